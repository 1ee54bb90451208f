import os
import pathlib
import signal
import subprocess
import sys
import textwrap
import time

import numpy
import pytest

import tandem


@pytest.fixture
def companies(people, tmp_path):
    """Configs of a bank and a retailer on this machine."""
    bank = tandem.create_certificate("bank", tmp_path / "bank")
    retailer = tandem.create_certificate("retailer", tmp_path / "retailer")
    people[["id", "income", "age", "paid"]].to_csv(tmp_path / "bank.csv", index=False)
    people[["id", "visits", "basket"]].iloc[::-1].to_csv(tmp_path / "retailer.csv", index=False)
    passive = {
        "name": "retailer",
        "listen": {"host": "127.0.0.1", "port": 0},
        "tls": retailer.tls,
        "active": [{"name": "bank", "fingerprint": bank.fingerprint}],
        "policy": {"schemes": ["paillier", "lattice"], "explanations": True},
        "data": {"path": str(tmp_path / "retailer.csv"), "id": "id", "features": "all"},
        "output": {"directory": str(tmp_path / "retailer" / "jobs")},
    }

    def active(port: int, rounds: int = 3) -> dict:
        return {
            "name": "bank",
            "scheme": "lattice",
            "passives": [
                {"name": "retailer", "host": "127.0.0.1", "port": port, "fingerprint": retailer.fingerprint}
            ],
            "tls": bank.tls,
            "data": {
                "path": str(tmp_path / "bank.csv"),
                "id": "id",
                "label": "paid",
                "features": "all",
                "test_fraction": 0.25,
            },
            "training": {"num_round": rounds, "max_depth": 2},
            "output": {"directory": str(tmp_path / "bank" / "jobs")},
        }

    return passive, active


def test_train_and_score_between_two_companies(people, companies):
    passive, active = companies
    steps = []
    with tandem.party(passive, progress=steps.append) as server:
        job = tandem.train(active(server.port), progress=False)
        assert set(job.metrics) == {"train", "test"}
        assert len(job.predictions) == 75
        scores = job.model.predict(people["id"])
        assert scores.index.tolist() == people["id"].tolist()
        held_out = job.predictions["prediction"]
        numpy.testing.assert_array_equal(scores.loc[held_out.index.astype(int), "prediction"], held_out)
        shap = job.model.predict(people["id"][:5], contributions=True)
        margins = job.model.predict(people["id"][:5], output="margin")
        assert list(shap.columns)[-2:] == ["party:retailer", "bias"]
        numpy.testing.assert_allclose(shap.sum(axis=1), margins.iloc[:, 0], atol=1e-9)
        with pytest.raises(tandem.TandemError) as caught:
            job.model.predict(["nobody"])
        assert caught.value.code == "ID_UNKNOWN"
        again = tandem.open_model(active(server.port), job.name)
        assert (again.id, again.passives) == (job.model.id, ["retailer"])
        again.close()
        job.model.close()
    assert "tree" in {step["type"] for step in steps}


def test_errors_of_a_job_have_codes(companies):
    _, active = companies
    config = active(1)
    config["data"]["path"] += ".missing"
    with pytest.raises(tandem.TandemError) as caught:
        tandem.train(config, progress=False)
    assert caught.value.code == "FILE_UNREADABLE"


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
def test_an_interrupt_ends_the_processes_of_a_simulation(people, tmp_path):
    people.to_csv(tmp_path / "people.csv", index=False)
    script = textwrap.dedent(
        f"""
        import tandem
        def show(step):
            if step["type"] == "tree": print("tree", flush=True)
        try:
            tandem.simulate({str(tmp_path / "people.csv")!r}, "paid", {{"bank": ["income"], "retailer": ["visits"]}},
                            scheme="lattice", num_round=100000, progress=show)
        except KeyboardInterrupt:
            print("interrupted", flush=True)
        """
    )
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    process = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True, env=environment)
    assert process.stdout.readline() == "tree\n"
    children = _descendants(process.pid)
    assert len(children) >= 3  # the library and the two parties
    process.send_signal(signal.SIGINT)
    rest, _ = process.communicate(timeout=120)
    assert rest.endswith("interrupted\n")
    deadline = time.monotonic() + 60
    while (left := [child for child in children if pathlib.Path(f"/proc/{child}").exists()]) != []:
        assert time.monotonic() < deadline, f"{len(left)} processes are left"
        time.sleep(0.1)


def _descendants(pid: int) -> list[int]:
    if not pathlib.Path("/proc/self/stat").exists():
        pytest.skip("needs /proc")
    parents = {}
    for stat in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        parents[int(stat.parent.name)] = int(fields[1])
    found, wanted = [], [pid]
    while wanted:
        parent = wanted.pop()
        below = [child for child, of in parents.items() if of == parent]
        found += below
        wanted += below
    return found
