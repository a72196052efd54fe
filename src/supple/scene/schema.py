"""The scene file: every table and key that `supple run` understands."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

from pydantic import BeforeValidator, Field, model_validator

from supple.io.assembled import MOVE_SUFFIXES, RigFiles
from supple.io.bone_file import BONE_SUFFIXES
from supple.scene.collider import ColliderTable
from supple.scene.contact import ContactTable
from supple.scene.force import Force
from supple.scene.material import MaterialTable
from supple.scene.motion_table import MotionTable
from supple.scene.paint_table import PaintTable
from supple.scene.pin import Pin
from supple.scene.rig_table import WEIGHTS, RigTable
from supple.scene.section import FILE, LENGTH, SPEED, Section, Unit, Vec3, only
from supple.scene.shell_table import ShellTable, SkinTable, VolumeTable
from supple.scene.tie_table import ExamplesTable, SpringTable, StrainTable
from supple.scene.training_table import TrainingTable
from supple.scene.units import UNITS, UNITS_RULE

__all__ = [
    "FIELDS",
    "BodyTable",
    "MeshTable",
    "MethodName",
    "MethodTable",
    "OutputTable",
    "Scene",
    "StartTable",
    "TimeTable",
]

EARTH = 9.81
SHARED = ("units", "up_axis", "gravity", "time", "collider", "output")  #: what no body has for itself
NEWTON, ACCURACY, SKIPPING = 1e-4, 0.01, 1e-3  #: what a method's tolerance is when none is given
POSED_ACCURACY = 0.05  #: the same in pose space, where bases between poses are interpolated
MethodName = Literal["full", "reduced", "skipping", "condensation", "posespace", "projective", "hyperreduced"]
Fields = Literal["displacement", "velocity", "J", "von_mises", "contact_force", "contact_depth"]
FIELDS: tuple[str, ...] = get_args(Fields)


class TimeTable(Section):
    """How long and how finely."""

    fps: Annotated[float, Unit("1/s")] = Field(default=24.0, gt=0, le=1e6, description="frames per second")
    substeps: int = Field(default=2, ge=1, le=100_000, description="time steps per frame")
    frames: int = Field(default=48, ge=1, le=10_000_000, description="frames to simulate after frame 0, the start")
    preroll: int = Field(
        default=0,
        ge=0,
        le=1_000_000,
        description="frames simulated before frame 0: pins stand still, a rig goes to its first pose",
    )
    integrator: Literal["implicit_euler", "newmark", "static"] = Field(
        default="implicit_euler",
        description="implicit_euler damps, newmark keeps energy, static finds the equilibrium",
    )

    @property
    def step(self) -> float:
        """Length of a time step [s]."""
        return 1.0 / (self.fps * self.substeps)


class MeshTable(Section):
    """A file or a built-in shape."""

    file: Annotated[str | None, FILE] = Field(
        default=None,
        description="tetrahedra (.msh .mesh .vtu .npz), or a surface (.obj .ply .off) to fill with them",
    )
    shape: str | None = Field(default=None, description="a built-in shape instead of a file")
    size: Annotated[dict[str, float], LENGTH] = Field(
        default_factory=dict, description="the shape's own measures, such as { length = 1.0 }"
    )
    resolution: int | None = Field(default=None, ge=1, le=2000, description="cells along the body's longest side")
    elements: int | None = Field(
        default=None, ge=5, le=50_000_000, description="number of tetrahedra to aim at, instead of resolution"
    )
    parts: list[str] | None = Field(
        default=None,
        min_length=1,
        description="of a rigged character (.glb .gltf .usd): the meshes that are its body, placed as its skeleton has "
        "them; all others ride along",
    )
    render: Annotated[bool | str, FILE, only((bool, str), "true, false or the name of a surface file")] = Field(
        default=True,
        description="surface file to carry along; true: the one in `file`; false: the tetrahedra's own",
    )

    @model_validator(mode="after")
    def _has_one_source(self) -> MeshTable:
        if (self.file is None) == (self.shape is None):
            raise ValueError("must have either file or shape")
        if self.resolution is not None and self.elements is not None:
            raise ValueError("has both resolution and elements, which say the same thing twice: keep one of them")
        if self.parts is not None and self.file is None:
            raise ValueError("has parts, which belong to the file of a character: name one, or remove it")
        if self.size and self.shape is None:
            raise ValueError("has size, which belongs to a built-in shape: remove it, or set units")
        return self


class StartTable(Section):
    """How the body moves at the start."""

    velocity: Annotated[Vec3, SPEED] = Field(default=(0.0, 0.0, 0.0), description="velocity of the whole body")
    spin: Annotated[Vec3, Unit("rad/s")] = Field(
        default=(0.0, 0.0, 0.0), description="angular velocity about its centre of mass"
    )


class MethodTable(Section):
    """How a step is solved."""

    name: MethodName = Field(
        default="full",
        description="full: every vertex is an unknown; reduced: a trained subspace; skipping: full steps teach a "
        "subspace in which the others are taken; condensation: a trained subspace, and full space where something "
        "touches; posespace: a subspace for every pose of a "
        'rig with rest = "posed"; projective: constraints projected in turn, every vertex an unknown; hyperreduced: '
        "the same in small spaces, without training",
    )
    tolerance: float | None = Field(
        default=None,
        gt=0,
        lt=1,
        description="full: residual at which a Newton solve is done (1e-4); "
        "reduced, condensation, posespace: error against the full solver that training aims at (0.01, 0.01, 0.05); "
        "skipping: error of a step, relative to the motion (1e-3); projective: part of the body's size below which "
        "iterations end (0); "
        "hyperreduced: error against unreduced steps, by which spaces are chosen",
    )
    newton_tolerance: float | None = Field(
        default=None, gt=0, lt=1, description="residual at which a Newton solve is done, whatever the method (1e-4)"
    )
    linear_solver: Literal["auto", "direct", "pcg", "amg"] = Field(
        default="auto", description="how linear systems are solved"
    )
    max_iterations: int | None = Field(default=None, ge=1, description="Newton iterations before a step is halved")
    model: Annotated[str | None, FILE] = Field(
        default=None,
        description="reduced, condensation, posespace: trained model (default: `NAME.model.npz` beside the scene, "
        "trained when it is missing); skipping: model to begin with, of this or another run (default: none)",
    )
    save: Annotated[str | None, FILE] = Field(
        default=None, description="skipping: where what was learned is left as a model when the run ends"
    )
    rank: int | None = Field(
        default=None,
        ge=1,
        le=2000,
        description="reduced, condensation, posespace: fixed size of the subspace, or of the largest of its domains",
    )
    throttle: float = Field(
        default=1.0, ge=0, le=1e6, description="skipping: what the tolerance is multiplied with; 0 skips nothing"
    )
    max_rank: int | None = Field(
        default=None,
        ge=1,
        le=300,
        description="skipping: largest subspace that is learned (45, or more where that is cheap; of the paper 20)",
    )
    estimator: Literal["checks", "paper"] = Field(
        default="checks",
        description="skipping: steps are reduced as long as full residuals find them right (checks), or as [KJ09] "
        "prints it (paper), where the tolerance is of the body's longest side (0.01; static 0.005)",
    )
    discard: float | None = Field(
        default=None,
        gt=0,
        lt=1,
        description="skipping by the paper's estimator: share of a displacement that its basis may miss (0.01; static "
        "0.001)",
    )
    elements: int | None = Field(
        default=None, ge=1, description="reduced, condensation: most elements that forces are taken from"
    )
    iterations: int | None = Field(
        default=None, ge=1, le=100_000, description="projective, hyperreduced: of every step (10)"
    )
    history: int | None = Field(
        default=None,
        ge=0,
        le=100,
        description="projective: iterations remembered to make later ones longer (0; 5 for other materials than the "
        "co-rotational)",
    )
    handles: int | None = Field(
        default=None, ge=1, le=100_000, description="hyperreduced: points whose weights span the positions (120)"
    )
    radius: float | None = Field(
        default=None,
        gt=0,
        le=10,
        description="hyperreduced: reach of a handle, times the distance that covers the body (1.5, at least 1); 2 is "
        "smoother; condensation: reach of full space about what touches, in longest sides of the body (3 edges)",
    )
    weights: Literal["subtract", "paper"] = Field(
        default="subtract",
        description="condensation: beside exact elements, trained ones count less what the exact ones stand for "
        "(subtract), or those among the exact ones are left out, as [TMDK15] prints it (paper)",
    )
    oracle: Literal["contact", "error"] | None = Field(
        default=None,
        description="condensation: full space about what touches (contact, where a radius is given), or wherever "
        "forces are out of balance, as far about it as the tolerance takes (error)",
    )
    release: Literal["settled", "frames", "motion"] = Field(
        default="settled",
        description="condensation: vertices return to the subspace when it has them where they are (settled), two "
        "steps after they were last near what touches (frames), or when they hardly move (motion)",
    )
    projection: Literal["clusters", "fit"] | None = Field(
        default=None,
        description="hyperreduced: few projections stand for all by clusters of elements that turn together "
        "(clusters), or by a fit to samples (fit); bending is always fitted",
    )
    clusters: int | None = Field(default=None, ge=1, le=100_000, description="hyperreduced: clusters of elements (200)")
    functions: int | None = Field(
        default=None, ge=1, le=100_000, description="hyperreduced: weights that span fitted projections (60)"
    )
    samples: int | None = Field(
        default=None, ge=1, description="hyperreduced: constraints of each type that are evaluated for a fit (1000)"
    )
    candidates: int | None = Field(
        default=None,
        ge=1,
        description="vertices of the surface that may touch (projective: 4000, hyperreduced: 2400)",
    )

    @model_validator(mode="after")
    def _residual_is_said_once(self) -> MethodTable:
        if self.name == "full" and self.tolerance is not None and self.newton_tolerance is not None:
            raise ValueError("has both tolerance and newton_tolerance, which are one thing for full: keep one of them")
        return self

    @model_validator(mode="after")
    def _handles_cover_the_body(self) -> MethodTable:
        if self.name == "hyperreduced" and self.radius is not None and self.radius < 1.0:
            raise ValueError("has a radius below 1, at which handles do not cover the body: give 1 or more")
        return self

    @model_validator(mode="after")
    def _discards_as_the_paper(self) -> MethodTable:
        if self.discard is not None and self.estimator != "paper":
            raise ValueError('has discard, which belongs to estimator = "paper": name that, or remove it')
        return self

    @property
    def is_projective(self) -> bool:
        """Whether bodies are tied by constraints."""
        return self.name in ("projective", "hyperreduced")

    @property
    def residual(self) -> float:
        """Relative residual at which a Newton solve is done."""
        asked = self.tolerance if self.name == "full" else None
        return self.newton_tolerance or asked or NEWTON

    @property
    def accuracy(self) -> float:
        """Relative error that a reduced model shall have against the full solver, or a step that is skipped."""
        usual = {"posespace": POSED_ACCURACY, "skipping": SKIPPING}.get(self.name, ACCURACY)
        return (None if self.name == "full" else self.tolerance) or usual


class OutputTable(Section):
    """What is written."""

    files: Annotated[list[str], FILE] = Field(
        default_factory=list, description="result files; the suffix is the format (.usd .npz .pvd .obj)"
    )
    every: int = Field(default=1, ge=1, description="write every so many frames")
    fields: list[Fields] | None = Field(
        default=None,
        description="written where the format can hold them (default: all for .pvd and .npz, else velocity); those of "
        "contact bring the points that touch along",
    )
    tolerance: float = Field(
        default=1e-4,
        gt=0,
        lt=1,
        description="how far a vertex of a .glb may be from where it was, as a share of the body's size; more makes "
        "smaller files",
    )
    checkpoint: int = Field(default=10, ge=0, description="frames between checkpoints; 0: only when the run is stopped")


def _is_finite(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _gravity(value: object) -> object:
    """The switch as it is, a list as a vector."""
    if isinstance(value, bool):
        return value
    if isinstance(value, list | tuple) and len(value) == 3 and all(_is_finite(x) for x in value):
        return tuple(value)
    raise ValueError("must be true, false or three finite numbers [m/s²], such as [0.0, -9.81, 0.0]")


class BodyTable(Section):
    """One of several bodies: tables as those of a scene with one, in a frame of its own; what it does not say, it has
    from the tables at the top.
    """

    name: str = Field(pattern=r"^[\w-]+$", description="letters, digits, - and _; results and files are called by it")
    at: Annotated[Vec3, LENGTH] = Field(default=(0.0, 0.0, 0.0), description="where the origin of its frame is put")
    rotate: Annotated[Vec3, Unit("degrees")] = Field(
        default=(0.0, 0.0, 0.0), description="its frame turned about x, then y, then z"
    )
    mesh: MeshTable | None = Field(default=None, description="a file or a built-in shape")
    paint: list[PaintTable] | None = Field(default=None, description="maps painted over its surface")
    material: MaterialTable | None = Field(default=None, description="its material")
    volume: VolumeTable | None = Field(default=None, description="a volume that its tetrahedra aim at")
    skin: SkinTable | None = Field(default=None, description="a layer over its surface")
    spring: list[SpringTable] | None = Field(default=None, description="springs between its vertices")
    strain: StrainTable | None = Field(default=None, description="stretches beyond which it resists harder")
    examples: ExamplesTable | None = Field(default=None, description="shapes that it likes as its own")
    pin: list[Pin] | None = Field(default=None, description="held or moved vertices, in its frame")
    rig: RigTable | None = Field(default=None, description="bones that move it")
    motion: MotionTable | None = Field(default=None, description="what the rig does")
    force: list[Force] | None = Field(default=None, description="loads besides gravity, in its frame")
    contact: ContactTable | None = Field(default=None, description="how it touches itself and colliders")
    start: StartTable | None = Field(default=None, description="how it moves at the start, in its frame")
    method: MethodTable | None = Field(default=None, description="how its steps are solved")
    training: TrainingTable | None = Field(default=None, description="what its reduced model learns from")

    @model_validator(mode="before")
    @classmethod
    def _leaves_what_is_shared(cls, data: object) -> object:
        for key in SHARED:
            if isinstance(data, Mapping) and key in data:
                raise ValueError(f"has {key}, which all bodies of a scene share: put it at the top")
        return data


class Scene(Section):
    """A whole scene."""

    units: Literal["m", "dm", "cm", "mm", "um", "km", "in", "ft"] = Field(default="m", description=UNITS_RULE)
    up_axis: Literal["y", "z"] = Field(default="y", description="which axis of the scene points up")
    gravity: Annotated[bool | tuple[float, float, float], BeforeValidator(_gravity), Unit("m/s²")] = Field(
        default=True, description="true: 9.81 down the up axis; false: none; or a vector"
    )
    time: TimeTable = Field(default=TimeTable(), description="how long and how finely")
    mesh: MeshTable = Field(description="a file or a built-in shape")
    body: list[BodyTable] = Field(
        default_factory=list, min_length=1, description="several bodies instead of one, each with tables of its own"
    )
    paint: list[PaintTable] = Field(
        default_factory=list, description="maps painted over a surface, for selections and materials"
    )
    material: MaterialTable = Field(default=MaterialTable(), description="the body's material")
    shell: ShellTable | None = Field(
        default=None, description="the mesh's surface as a body without inside (projective, hyperreduced)"
    )
    skin: SkinTable | None = Field(
        default=None, description="a layer over the tetrahedra's surface (projective, hyperreduced)"
    )
    volume: VolumeTable | None = Field(
        default=None, description="a volume that tetrahedra aim at (projective, hyperreduced)"
    )
    spring: list[SpringTable] = Field(
        default_factory=list, description="springs between vertices (projective, hyperreduced)"
    )
    strain: StrainTable | None = Field(
        default=None, description="stretches beyond which tetrahedra resist harder (projective, hyperreduced)"
    )
    examples: ExamplesTable | None = Field(
        default=None, description="shapes that the body likes as its own (projective, hyperreduced)"
    )
    pin: list[Pin] = Field(default_factory=list, description="held or moved vertices")
    rig: RigTable | None = Field(default=None, description="bones that move the body; without it there are none")
    motion: MotionTable | None = Field(
        default=None, description="what the rig does; without it, what came with its skeleton"
    )
    force: list[Force] = Field(default_factory=list, description="loads besides gravity")
    collider: list[ColliderTable] = Field(default_factory=list, description="rigid things that the body stops at")
    contact: ContactTable | None = Field(
        default=None, description="what touches what; without it, and without colliders, nothing does"
    )
    start: StartTable = Field(default=StartTable(), description="how the body moves at the start")
    method: MethodTable = Field(default=MethodTable(), description="how a step is solved")
    training: TrainingTable = Field(default=TrainingTable(), description="what a reduced model learns from")
    output: OutputTable = Field(default=OutputTable(), description="what is written")

    @model_validator(mode="before")
    @classmethod
    def _bodies_have_meshes(cls, data: object) -> object:
        """The scene with the first body's mesh where it names none for all, so that it is a scene without them, too."""
        bodies = data.get("body") if isinstance(data, Mapping) else None
        if not isinstance(data, Mapping) or not isinstance(bodies, list | tuple) or not bodies:
            return data
        shared = data.get("mesh", {})
        if not isinstance(shared, Mapping) or {"file", "shape"} & set(shared):
            return data
        meshes = [body.get("mesh") if isinstance(body, Mapping) else None for body in bodies]
        if None in meshes:
            raise ValueError(f"has no mesh for body[{meshes.index(None)}]: add [body.mesh], or a [mesh] for all bodies")
        return {**data, "mesh": meshes[0]}

    @model_validator(mode="after")
    def _bodies_have_names(self) -> Scene:
        names = [body.name for body in self.body]
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None:
            raise ValueError(f'has two bodies of the name "{twice}": give each its own')
        return self

    @model_validator(mode="after")
    def _gravity_is_said_once(self) -> Scene:
        if "gravity" in self.model_fields_set and any(force.kind == "gravity" for force in self.force):
            raise ValueError('has both gravity and a [[force]] of kind "gravity": keep one of them')
        return self

    @model_validator(mode="after")
    def _motion_has_a_rig(self) -> Scene:
        if self.motion is not None and self.rig is None:
            raise ValueError("has [motion] but nothing that it moves: add [rig]")
        return self

    @model_validator(mode="after")
    def _domains_have_bones(self) -> Scene:
        if self.training.domains == "bones" and self.rig is None:
            raise ValueError('has training.domains = "bones" but no bones: add [rig], or remove it')
        return self

    @property
    def metres(self) -> float:
        """Size of one scene unit [m]."""
        return UNITS[self.units]

    def own_ties(self) -> list[str]:
        """The tables that only projective dynamics knows, by name."""
        tables = ("shell", "skin", "volume", "strain", "examples")
        return [f"[{name}]" for name in tables if getattr(self, name) is not None] + ["[[spring]]"] * bool(self.spring)

    def touching(self) -> ContactTable | None:
        """The contact table that counts; None where nothing touches anything."""
        table = self.contact or (ContactTable() if self.collider else None)
        if table is None or self.shell is None:
            return table
        return table.model_copy(update={"self_": False})  # which only bodies with an inside can touch

    def acceleration(self) -> tuple[float, float, float] | None:
        """Steady gravity [m/s²], or None when it is off or given as a force."""
        if self.gravity is False or any(force.kind == "gravity" for force in self.force):
            return None
        if self.gravity is True:
            return (0.0, -EARTH, 0.0) if self.up_axis == "y" else (0.0, 0.0, -EARTH)
        return self.gravity

    def rig_files(self) -> RigFiles | None:
        """Skeleton, weights and motion that make the mesh a character, where they are in files of such kinds."""
        rig, motion = self.rig, None if self.motion is None else self.motion.file
        if rig is None or rig.skeleton is None or Path(rig.skeleton).suffix.lower() not in BONE_SUFFIXES:
            return None
        weights = None if rig.weights in WEIGHTS else Path(rig.weights)
        moves = None if motion is None or Path(motion).suffix.lower() not in MOVE_SUFFIXES else Path(motion)
        return RigFiles(Path(rig.skeleton), weights, moves)

    @property
    def subspace_method(self) -> MethodName:
        """The method in a subspace that suits the scene: its own, if that is one."""
        if self.method.name != "full":
            return self.method.name
        return "posespace" if self.rig is not None and self.rig.rest == "posed" else "reduced"

    def under(self, method: MethodName) -> Scene:
        """The same scene under another method; tolerance and radius mean other things there: they are left behind."""
        if method == self.method.name and not any(body.method for body in self.body):
            return self
        residual = self.method.newton_tolerance or (self.method.tolerance if self.method.name == "full" else None)
        kept = {"name": method, "tolerance": None, "radius": None, "newton_tolerance": residual}
        bodies = [body.model_copy(update={"method": None}) for body in self.body]
        return self.model_copy(update={"method": self.method.model_copy(update=kept), "body": bodies})

    def keys(self) -> dict[str, Any]:
        """The scene as the tables and keys that differ from the defaults."""
        return self.model_dump(mode="json", by_alias=True, exclude_defaults=True)
