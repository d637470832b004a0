"""The list of what is inside a release, as SPDX 2.3 in JSON: every file with its checksum, and the packages of others that
it holds, with version and terms. What a file holds is read from the file itself: each of ours carries the terms of
whatever is compiled in or comes along."""

import hashlib
import json
import re
import shutil
import subprocess
import time
import zipfile
from pathlib import Path, PurePosixPath
from urllib.parse import quote

import archives
import terms

NAMESPACE = "https://normscope.example.org/spdx"
LICENSES = re.compile(r"(?:^|/)licen[sc]es/([^/]+?)(?:\.txt)?$")  # of a package or folder: a file for each component


def components(path):
    """The packages of others in a file, by the names of the terms that it carries."""
    names = [name for name, _ in archives.members(path)]
    inside = {match.group(1) for name in names if (match := LICENSES.search(name))}
    web = [name for name in names if PurePosixPath(name).name == "licenses.txt" and name.count("/") == 1]
    if path.suffix == ".zip" and web:
        with zipfile.ZipFile(path) as archive:
            inside |= set(terms.names(archive.read(web[0]).decode("utf-8", "replace")))
    return sorted(inside - {"normscope", "LICENSE"})  # our own terms


def debian(name, systems):
    """Version and terms of a component, as the first of these systems has it as a Debian package; else unknown."""
    for system in systems if shutil.which("dpkg-query") else ():
        command = ["dpkg-query", f"--admindir={system}/var/lib/dpkg", "-W", "-f", "${Version}", name]
        asked = subprocess.run(command, capture_output=True, text=True)
        if asked.returncode == 0 and asked.stdout:
            return asked.stdout, short_name(system / "usr/share/doc" / name / "copyright")
    return None, "NOASSERTION"


def short_name(copyright_file):
    """The short name of the terms of `Files: *` in a machine-readable copyright file of Debian's."""
    if not copyright_file.is_file():
        return "NOASSERTION"
    for paragraph in re.split(r"\n\s*\n", copyright_file.read_text(encoding="utf-8", errors="replace")):
        if re.search(r"^Files:\s*\*\s*$", paragraph, re.MULTILINE):
            named = re.search(r"^License:\s*(\S+)\s*$", paragraph, re.MULTILINE)
            known = {"expat": "MIT", "apache-2.0": "Apache-2.0", "apache-2": "Apache-2.0", "bsd-3-clause": "BSD-3-Clause"}
            return known.get(named.group(1).lower(), "NOASSERTION") if named else "NOASSERTION"
    return "NOASSERTION"


def identifier(name):
    return "SPDXRef-" + re.sub(r"[^A-Za-z0-9.-]", "-", name)


def component(name, version, licence):
    entry = {
        "SPDXID": identifier(f"component-{name}-{version or 'unknown'}"),
        "name": name,
        "downloadLocation": "NOASSERTION",
        "filesAnalyzed": False,
        "licenseConcluded": "NOASSERTION",
        "licenseDeclared": licence,
        "copyrightText": "NOASSERTION",
    }
    if version:
        entry["versionInfo"] = version
        reference = {"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl"}
        entry["externalRefs"] = [reference | {"referenceLocator": f"pkg:deb/debian/{name}@{quote(version)}"}]
    return entry


def components_of(path, root):
    """The entries of what a file holds; the web program's are those of the toolchain that compiled it."""
    systems = [Path("/"), root / "build/web-toolchain"]
    if path.name.endswith("-web.zip"):
        systems.reverse()
    return [component(name, *debian(name, systems)) for name in components(path)]


def handed_out(path, version):
    return {
        "SPDXID": identifier(path.name),
        "name": path.name,
        "versionInfo": version,
        "packageFileName": path.name,
        "downloadLocation": "NOASSERTION",
        "filesAnalyzed": False,
        "licenseConcluded": "NOASSERTION",
        "licenseDeclared": "MIT",
        "copyrightText": "2026 normscope contributors",
        "checksums": [{"algorithm": "SHA256", "checksumValue": hashlib.sha256(path.read_bytes()).hexdigest()}],
    }


def document(folder, version, epoch, root):
    """The list for all files of a folder."""
    files = sorted(path for path in folder.iterdir() if path.is_file())
    inside = {path: components_of(path, root) for path in files}
    packages = [handed_out(path, version) for path in files]
    packages += {entry["SPDXID"]: entry for entries in inside.values() for entry in entries}.values()
    relations = [("SPDXRef-DOCUMENT", "DESCRIBES", identifier(path.name)) for path in files]
    for path, entries in inside.items():
        relations += [(identifier(path.name), "CONTAINS", entry["SPDXID"]) for entry in entries]
    sums = "".join(package["checksums"][0]["checksumValue"] for package in packages if "checksums" in package)
    return {
        "spdxVersion": "SPDX-2.3",
        "dataLicense": "CC0-1.0",
        "SPDXID": "SPDXRef-DOCUMENT",
        "name": f"normscope-{version}",
        "documentNamespace": f"{NAMESPACE}/normscope-{version}-{hashlib.sha256(sums.encode()).hexdigest()[:32]}",
        "creationInfo": {
            "created": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(epoch)),
            "creators": ["Organization: normscope contributors", f"Tool: normscope-release-{version}"],
        },
        "packages": packages,
        "relationships": [
            {"spdxElementId": of, "relationshipType": kind, "relatedSpdxElement": to} for of, kind, to in relations
        ],
    }


def write(folder, version, epoch, root):
    text = json.dumps(document(folder, version, epoch, root), indent=1, ensure_ascii=False)
    (folder / f"normscope-{version}.spdx.json").write_text(text + "\n", encoding="utf-8")
