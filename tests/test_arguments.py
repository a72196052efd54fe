"""Nonsense is refused where objects are made: which argument, what came, what is wanted."""

import warnings
from collections.abc import Callable

import numpy as np
import pytest

from supple.constraint import Positions, ProjectiveBody, Shell, Springs, TetVolume, tet_stencils
from supple.contact import Box, Capsule, ContactSettings, MeshCollider, Plane, Sphere
from supple.elastic import Body, Damping, Pins
from supple.errors import ArgumentError, MaterialError, MeshError, SuppleError
from supple.material import MATERIALS, ArrudaBoyce, StableNeoHookean
from supple.mesh import TetMesh, TriMesh, tetrahedralise
from supple.method import FullSolver, ProjectiveSolver, ReducedSolver
from supple.rig import (
    Bend,
    BlendShapes,
    Chain,
    Influences,
    Motion,
    PoseSpace,
    Skeleton,
    SkinnedRig,
    Stack,
    Wire,
    heat_weights,
    keyframes,
)
from supple.shape import make_shape
from supple.solve import (
    AddPin,
    Grab,
    Gravity,
    Inputs,
    Moment,
    MoveCollider,
    NodalForce,
    Placement,
    SetGravity,
    SetStiffness,
)

MESH = make_shape("beam", resolution=4)
N, M = len(MESH.vertices), len(MESH.tets)
LEFT = MESH.vertices[:, 0] < MESH.bounds()[0][0] + 1e-9
BODY = Body.build(MESH, StableNeoHookean(), Pins.of(LEFT))
HELD = MESH.vertices[LEFT]
SKELETON = Skeleton.of(["a", "b"], [-1, 0], [[0, 0, 0], [1, 0, 0]], [[1, 0, 0], [2, 0, 0]])
FORCES = (Gravity((0, -9.81, 0)),)


def step(targets: object) -> object:
    solver = FullSolver(BODY, integrator="static")
    still = Moment(0.0, HELD)
    return solver.step(solver.start(Inputs(still, still)), Inputs(still, Moment(1.0, targets)))  # type: ignore[arg-type]


CASES: list[tuple[Callable[[], object], str]] = [
    (lambda: TetMesh("a.obj", MESH.tets), "TetMesh(vertices): got a path; want (n, 3). Use supple.io.load_mesh."),
    (lambda: TetMesh(MESH.vertices[:, :2], MESH.tets), f"TetMesh(vertices): got shape ({N}, 2); want (n, 3)."),
    (lambda: TetMesh(MESH.vertices, MESH.tets + 1), f"uses vertex {N}; the last is {N - 1}."),
    (
        lambda: TetMesh(MESH.vertices, MESH.surface_triangles()),
        "want (m, 4). Use supple.mesh.tetrahedralise.",
    ),
    (lambda: TetMesh(MESH.vertices, MESH.tets * 1.0), "TetMesh(tets): got values of type float64; want integers"),
    (lambda: TetMesh(MESH.vertices, MESH.tets, np.zeros(M - 1, int)), f"TetMesh(regions): got shape ({M - 1},)"),
    (
        lambda: Body.build(TetMesh(np.concatenate([MESH.vertices, np.ones((3, 3))]), MESH.tets), StableNeoHookean()),
        f"Body(mesh): 3 of its vertices (first {N}) are in no tet. Use TetMesh.clean.",
    ),
    (lambda: TetMesh(MESH.vertices * np.nan, MESH.tets), "TetMesh(vertices): got numbers that are not finite"),
    (lambda: TriMesh([[0, 0, 0], [1, 0]], [[0, 1, 2]]), "TriMesh(vertices): got rows of different lengths"),
    (lambda: TriMesh(np.eye(3), [[0, 1, 3]]), "TriMesh(triangles): triangle 0 uses vertex 3; the last is 2."),
    (lambda: tetrahedralise("a.obj", elements=9), "tetrahedralise(surface): got a path; want a TriMesh. Use supple.io"),
    (lambda: tetrahedralise(MESH.surface(), elements=1.5), "elements: got 1.5; want a whole number of tets wanted."),
    (lambda: make_shape(3), "make_shape(name): got 3; want the name of a shape."),
    (lambda: make_shape("beam", 4, length="long"), 'make_shape(length): got "long"; want a number.'),
    (lambda: MESH.scaled("big"), 'TetMesh.scaled(factor): got "big"; want a finite number above 0.'),
    (lambda: MESH.transformed(2.0), "TetMesh.transformed(matrix): got shape (); want (3, 3)."),
    (lambda: StableNeoHookean().psi(np.eye(2)), "F: got shape (2, 2); want (..., 3, 3)."),
    (lambda: BODY.energy(MESH.vertices[:3]), f"Body(x): got shape (3, 3); want ({N}, 3) [m]."),
    (lambda: ProjectiveSolver(BODY), "body: got Body; want a ProjectiveBody. Use ProjectiveBody.from_body."),
    (lambda: ProjectiveBody.from_body(MESH), "ProjectiveBody.from_body(body): got TetMesh; want a Body."),
    (lambda: ReducedSolver(BODY, "a.npz"), "model: got a path; want a ReducedModel. Use supple.io.load_model."),
    (lambda: FullSolver(BODY, contact=0.3), "contact: got 0.3; want ContactSettings."),
    (lambda: heat_weights("a.msh", SKELETON), "mesh: got a path; want a TetMesh. Use supple.io.load_mesh."),
    (lambda: Chain("arm", "a", "b"), 'Chain(skeleton): got "arm"; want a Skeleton. Use Skeleton.of.'),
    (lambda: Stack(SKELETON, SKELETON), "Stack(below): got Skeleton; want a rig with vertices"),
    (lambda: keyframes(SKELETON, {0.0: {"a": "up"}}), "pose_from('a'): got \"up\"; want ()."),
    (lambda: keyframes(SKELETON, [1.0]), "keyframes(keys): got list; want poses by time."),
    (lambda: Grab("g", (1,), (0.5, 0.5), (0, 0, 0), 1.0), "Grab(weights): got 2; want one for each of 1 vertices."),
    (lambda: ContactSettings(self_contact="yes"), 'ContactSettings(self_contact): got "yes"; want True or False.'),
    (lambda: Pins.merge([LEFT]), f"Pins.merge(parts[0]): got shape ({N},); want Pins. Use Pins.of."),
    (lambda: StableNeoHookean(5e3, 0.45), "StableNeoHookean(): takes keywords, such as young=1e5."),
    (lambda: ArrudaBoyce(5e3), "ArrudaBoyce(): takes keywords, such as shear=5e3."),
    (lambda: StableNeoHookean(youngs=5e3), 'StableNeoHookean(): no argument "youngs"; did you mean "young"?'),
    (lambda: StableNeoHookean(poisson=0.5), "StableNeoHookean(poisson): got 0.5; want above -1, below 0.5. Use 0.45"),
    (lambda: StableNeoHookean(young="soft"), 'StableNeoHookean(young): got "soft"; want a finite number above 0 [Pa].'),
    (lambda: StableNeoHookean(density=0), "StableNeoHookean(density): got 0; want above 0 [kg/m³]."),
    (lambda: Damping(-1.0), "Damping(mass): got -1.0; want from 0 [1/s]."),
    (
        lambda: Body.build("a.msh", StableNeoHookean()),
        "Body(mesh): got a path; want a TetMesh. Use supple.io.load_mesh.",
    ),
    (lambda: Body.build(MESH.surface(), StableNeoHookean()), "Body(mesh): got TriMesh; want a TetMesh."),
    (lambda: Body.build(MESH, 5000.0), "Body(material): got 5000.0; want one such as StableNeoHookean()."),
    (lambda: Body.build(MESH, StableNeoHookean), "Body(material): got the class StableNeoHookean; want one such"),
    (lambda: Body.build(MESH, StableNeoHookean(), LEFT), f"Body(pins): got shape ({N},); want Pins. Use Pins.of."),
    (
        lambda: Body.build(MESH, StableNeoHookean(), Pins.of(LEFT[1:])),
        f"Body(pins): got a mask ({N - 1},); want ({N},).",
    ),
    (
        lambda: Body.build(MESH, StableNeoHookean(), Pins.of([N])),
        f"Body(pins): got vertex {N}; want numbers up to {N - 1}.",
    ),
    (lambda: BODY.pinned(Pins.of([N])), f"Body(pins): got vertex {N}"),
    (lambda: Pins.of([-1]), "Pins.of(vertices): got vertex -1"),
    (lambda: Pins.of([0.5]), "Pins.of(vertices): got values of type float64; want integers"),
    (lambda: Pins.of([0], "w"), "Pins.of(axes): got 'w'; want letters out of \"xyz\"."),
    (lambda: Pins([2, 1], np.ones((2, 3), bool)), "Pins(vertices): got numbers that do not ascend"),
    (lambda: Pins([1, 2], np.ones((2, 3))), "Pins(held): got shape (2, 3) of float64; want booleans of shape (2, 3)."),
    (
        lambda: Gravity(9.81),
        "Gravity(acceleration): got shape (); want (3,) [m/s²]. Give it a direction, such as (0, -9",
    ),
    (lambda: Gravity((True, False, True)), "Gravity(acceleration): got a mask (3,); want (3,) [m/s²]."),
    (lambda: Gravity((0, np.inf, 0)), "Gravity(acceleration): got numbers that are not finite"),
    (lambda: NodalForce([0, 1], [1.0], (0, 1, 0)), "NodalForce(weights): got shape (1,); want (2,)."),
    (lambda: NodalForce([0], [1.0], 5.0), "NodalForce(vector): got shape (); want (3,) [N]."),
    (lambda: Moment(0.0, HELD[:, 0]), f"Moment(targets): got shape ({len(HELD)},); want (k, 3) [m]."),
    (lambda: Moment("now", HELD), 'Moment(time): got "now"; want a finite number [s].'),
    (lambda: Moment(0.0, HELD, Gravity((0, 0, 0))), "Moment(forces): got Gravity; want a tuple of forces."),
    (lambda: Moment(0.0, HELD, ((0, -9.81, 0),)), "Moment(forces[0]): got tuple; want a force"),
    (lambda: Moment(0.0, HELD, (), (np.eye(4),)), "Moment(colliders[0]): got shape (4, 4); want a Placement."),
    (lambda: Inputs(0.0, 1.0), "Inputs(begin): got 0.0; want a Moment."),
    (lambda: Inputs(Moment(0.0, HELD), Moment(1.0, HELD), ("grab",)), 'Inputs(events[0]): got "grab"; want an event'),
    (lambda: step(HELD[:-1]), f"Inputs(end.targets): got shape ({len(HELD) - 1}, 3); want ({len(HELD)}, 3) [m]."),
    (lambda: FullSolver(MESH), "body: got TetMesh; want a Body. Use Body.build."),
    (lambda: FullSolver(BODY, tolerance=5), "tolerance: got 5; want above 0, below 1."),
    (lambda: FullSolver(BODY, colliders=[MESH.surface()]), "colliders[0]: got TriMesh; want one such as Plane()"),
    (lambda: Placement(2 * np.eye(3), np.zeros(3)), "Placement(rotation): got a matrix that scales, shears or mirrors"),
    (lambda: Placement(np.eye(3), 0.0), "Placement(translation): got shape (); want (3,) [m]."),
    (lambda: SetGravity(9.81), "SetGravity(acceleration): got 9.81; want three finite numbers."),
    (lambda: SetStiffness("soft"), 'SetStiffness(factor): got "soft"; want a finite number.'),
    (lambda: AddPin((0,), "w"), 'AddPin(axes): got "w"; want letters out of "xyz".'),
    (lambda: Grab("g", (0,), (np.nan,), (0, 0, 0), 1.0), "Grab(weights): got (nan,); want finite numbers."),
    (lambda: MoveCollider("floor", (0, 0, 0)), 'MoveCollider(collider): got "floor"; want its number, from 0 on.'),
    (lambda: Sphere(-1), "Sphere(radius): got -1; want above 0."),
    (lambda: Sphere("big"), 'Sphere(radius): got "big"; want a finite number above 0.'),
    (lambda: Capsule(1.0, 0.5), "Capsule(length): got 1.0; want above 1. Else it is a Sphere."),
    (lambda: Box(1.0), "Box(sides): got shape (); want (3,)."),
    (lambda: Plane((0, 0, 0)), "Plane(normal): got (0, 0, 0); want a direction."),
    (lambda: MeshCollider("floor.obj"), "MeshCollider(surface): got a path; want a TriMesh. Use supple.io.load_mesh."),
    (lambda: ContactSettings(friction="high"), 'ContactSettings(friction): got "high"; want a finite number from 0.'),
    (lambda: ContactSettings(collider_friction=0.5), "ContactSettings(collider_friction): got 0.5; want one for each"),
    (lambda: Shell(thickness=0), "Shell(thickness): got 0; want above 0 [m]."),
    (lambda: ProjectiveBody.from_body(BODY).pinned([0]), "ProjectiveBody(pins): got list; want Pins. Use Pins.of."),
    (
        lambda: Positions.build(MESH.vertices, LEFT[1:], 1.0),
        f"Positions.build(vertices): got a mask ({N - 1},); want ({N},).",
    ),
    (
        lambda: Springs.build(MESH.vertices, [[0, 1]], [1.0, 2.0]),
        "Springs.build(stiffness): got shape (2,); want (1,) [N/m].",
    ),
    (lambda: TetVolume.build(tet_stencils(MESH), 1.0, 2.0), "TetVolume.build(limits): got shape (); want (2,)."),
    (lambda: Skeleton.of(["a"], [-1], [0, 0, 0], [[1, 0, 0]]), "Skeleton.of(heads): got shape (3,); want (1, 3) [m]."),
    (lambda: Influences.of([[0.5]], [[1.0]], 1), "Influences.of(joints): got values of type float64; want integers"),
    (lambda: SkinnedRig("rig", None, None), 'SkinnedRig(skeleton): got "rig"; want a Skeleton. Use Skeleton.of.'),
    (lambda: Motion.of(SKELETON, 0.0, [[0] * 9]), "Motion.of(times): got shape (); want (k,) [s]."),
    (lambda: Bend(MESH.vertices, (0, 0), (1, 0, 0), (0, 0, 1)), "Bend(start): got shape (2,); want (3,) [m]."),
    (lambda: Bend("body", (0, 0, 0), (1, 0, 0), (0, 0, 1)), 'Bend(rest): got "body"; want (n, 3) [m].'),
    (lambda: Wire(MESH.vertices, {"w": [[0, 0, 0], [1, 0, 0]]}, 0.2, 0.1), "Wire(outer): got 0.1; want above 0.2 [m]."),
    (
        lambda: BlendShapes(MESH.vertices, {"s": MESH.vertices[:5]}),
        f"BlendShapes(targets['s']): got shape (5, 3); want ({N}, 3) [m].",
    ),
    (
        lambda: PoseSpace(Bend(MESH.vertices, (0, 0, 0), (1, 0, 0), (0, 0, 1)), 1.0, np.zeros((1, N, 3))),
        "PoseSpace(poses): got shape (); want (k, 1).",
    ),
]


@pytest.mark.parametrize(("make", "words"), CASES, ids=[words[:50] for _, words in CASES])
def test_nonsense_is_named(make: Callable[[], object], words: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # nothing is cast on the way
        with pytest.raises(ArgumentError) as caught:
            make()
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def test_an_argument_error_is_caught_as_python_s_own() -> None:
    for kind in (ArgumentError, MeshError, MaterialError):
        assert issubclass(kind, SuppleError)
        assert issubclass(kind, ValueError)
        assert issubclass(kind, TypeError)


def test_a_mask_pins_what_it_selects() -> None:
    pins = Pins.of(LEFT)
    np.testing.assert_array_equal(pins.vertices, np.flatnonzero(LEFT))
    np.testing.assert_array_equal(Pins.of(LEFT.tolist()).vertices, pins.vertices)
    assert len(Pins.of([]).vertices) == 0
    assert AddPin(LEFT).vertices == tuple(np.flatnonzero(LEFT).tolist())  # type: ignore[arg-type]
    force = NodalForce(LEFT, np.ones(len(HELD)), (0.0, 1.0, 0.0))  # type: ignore[arg-type]
    np.testing.assert_array_equal(force.vertices, pins.vertices)
    drawn = Positions.build(MESH.vertices, LEFT, 1.0)
    np.testing.assert_array_equal(drawn.stencils.vertices[:, 0], pins.vertices)


def test_lists_serve_where_arrays_do() -> None:
    mesh = TetMesh(MESH.vertices.tolist(), MESH.tets.tolist())  # type: ignore[arg-type]
    np.testing.assert_array_equal(mesh.regions, np.zeros(M))
    assert mesh.tets.dtype == np.int32
    np.testing.assert_array_equal(Gravity((0, -9.81, 0)).acceleration, [0.0, -9.81, 0.0])  # type: ignore[arg-type]
    total = np.zeros((N, 3))
    Gravity([0, -9.81, 0]).add_to(total, BODY.mass)  # type: ignore[arg-type]
    np.testing.assert_array_equal(total[:, [0, 2]], 0.0)


@pytest.mark.parametrize("name", sorted(MATERIALS))
def test_every_material_takes_keywords_only(name: str) -> None:
    with pytest.raises(ArgumentError, match="takes keywords, such as"):
        MATERIALS[name](1000.0)
    assert MATERIALS[name]().density == 1000.0
