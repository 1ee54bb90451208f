"""The version is that of the program; the wheel holds compiled code, and runs on every Python 3."""

import json
import pathlib

from setuptools import setup
from setuptools.command.bdist_wheel import bdist_wheel


class PlatformWheel(bdist_wheel):
    def finalize_options(self):
        super().finalize_options()
        self.root_is_pure = False

    def get_tag(self):
        _, _, platform = super().get_tag()
        return "py3", "none", platform


folder = pathlib.Path(__file__).parent / "src" / "tandem" / "_program"
version = json.loads((folder / "package.json").read_text())["version"]

setup(version=version, cmdclass={"bdist_wheel": PlatformWheel})
