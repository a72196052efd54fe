"""Compliances between contacts, learnt as they are needed."""

import numpy as np
import scipy.sparse as sp

from supple.contact.contacts import SELF, Contacts
from supple.contact.delassus import Delassus


def make_contacts(vertices, weights):
    count = len(vertices)
    return Contacts(
        np.asarray(vertices, np.int32), np.asarray(weights, float), np.zeros((count, 3)), np.zeros((count, 3)),
        np.zeros(count), np.zeros((count, 3)), np.full(count, SELF, np.int32), np.zeros(count, np.int32),
    )  # fmt: skip


def test_compliances_equal_dense_algebra_and_are_asked_for_once():
    rng = np.random.default_rng(0)
    rows = sp.csr_array(rng.normal(size=(30, 8)) * (rng.random((30, 8)) < 0.4))
    inverses = np.stack([np.linalg.inv(B @ B.T + np.eye(8)) for B in rng.normal(size=(3, 8, 8))])
    asked = []

    def respond(vertices):
        asked.extend(vertices.tolist())
        return np.stack([rows[vertices] @ inverse for inverse in inverses])

    delassus = Delassus(rows, respond, axes=3)
    first = make_contacts([[4] * 4, [9] * 4, [7, 3, 2, 11]], [[1, 0, 0, 0], [1, 0, 0, 0], [1, -0.2, -0.5, -0.3]])
    second = make_contacts([[9] * 4, [12] * 4], [[1, 0, 0, 0]] * 2)
    for contacts in (first, second, first, second):
        linked = delassus.link(contacts)
        C = np.einsum("mk,mkr->mr", contacts.weights, rows.toarray()[contacts.vertices])
        np.testing.assert_allclose(linked.Y, C @ inverses, atol=1e-5)
        np.testing.assert_allclose(linked.W, C @ inverses @ C.T, atol=1e-5)
    assert sorted(asked) == [2, 3, 4, 7, 9, 11, 12]
    assert delassus.link(second) is linked


def test_columns_beyond_the_memory_are_learnt_anew(monkeypatch):
    monkeypatch.setattr("supple.contact.delassus._MEMORY", 4 * 12 * 4)
    delassus = Delassus(sp.csr_array(sp.eye_array(6)), lambda vertices: np.eye(6)[None, vertices])
    for vertices in ([0, 1, 2], [3, 4], [5, 0]):
        linked = delassus.link(make_contacts([[v] * 4 for v in vertices], [[1, 0, 0, 0]] * len(vertices)))
        np.testing.assert_array_equal(linked.W[0], np.eye(len(vertices)))
