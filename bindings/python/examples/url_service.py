"""A service that checks URLs against a filter of malicious ones. The file is replaced while the service runs.

    mayhap build -o malicious.mayhap --fpr 1e-4 malicious.txt      # as often as the list changes
    uvicorn url_service:app --workers 4                            # the workers share the memory of the mapped file
"""

import os
from pathlib import Path

import mayhap
from fastapi import FastAPI

PATH = Path(os.environ.get("MALICIOUS_URLS", "malicious.mayhap"))


class ReplacedFile:
    """Maps a file, and maps it again after it was replaced. `mayhap build` and `save` replace files atomically."""

    def __init__(self, path):
        self.path, self.version, self.filter = path, None, None

    def get(self):
        status = self.path.stat()
        version = (status.st_ino, status.st_mtime_ns)
        if version != self.version:
            self.filter = mayhap.open(self.path, mmap=True, verify=True)
            self.version = version
        return self.filter


urls = ReplacedFile(PATH)
app = FastAPI()


@app.get("/check")
def check(url: str) -> dict[str, bool]:
    # False is certain. True is wrong once in 10,000 URLs: ask the exact list then.
    return {"malicious": url in urls.get()}


if __name__ == "__main__":
    from fastapi.testclient import TestClient

    def publish(bad):
        filter = mayhap.Bloom(1000, 1e-4)
        filter.update(bad)
        filter.save(PATH)

    publish(["https://bad.example/"])
    client = TestClient(app)
    ask = lambda url: client.get("/check", params={"url": url}).json()["malicious"]  # noqa: E731
    assert ask("https://bad.example/") and not ask("https://new.example/")
    publish(["https://bad.example/", "https://new.example/"])
    assert ask("https://new.example/")
    print("the service answers from the new file")
