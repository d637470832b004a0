"""The page around the program: what it asks of the network, and what it says where the program cannot run."""

import time

from case import WebTest

MOST_BYTES = 2_200_000  # the most compressed bytes before the first frame

# A service worker that is there and adds nothing.
IDLE_SERVICE_WORKER = """
  ServiceWorkerContainer.prototype.register = async () => ({});
  Object.defineProperty(ServiceWorkerContainer.prototype, "ready", { get: () => Promise.resolve({}) });
"""


class PageTest(WebTest):
    def test_size_and_network(self):
        """At most 2.2 MB come before the first frame, all of them from the page's own host, each file once"""
        if not (self.site.folder / "normscope.wasm.br").is_file():
            self.skipTest("make web found no brotli, and the limit is for what brotli packed")
        program = self.open()
        program.start()
        page = program.page
        urls = page.urls()
        outside = [url for url in urls if not url.startswith((self.site.url, "blob:", "data:"))]
        self.assertEqual(outside, [])
        twice = [url for url in set(urls) if url.startswith(self.site.url) and urls.count(url) > 1]
        self.assertEqual(twice, [])  # no worker asks for the glue again
        size = page.received()
        self.say(f"{size / 1e6:.2f} MB received in {len(urls)} requests")
        self.assertLessEqual(size, MOST_BYTES)
        self.assertGreater(size, (self.site.folder / "page.js").stat().st_size)  # otherwise nothing was counted
        self.assertEqual(page.problems(), [])

    def test_without_headers(self):
        """A host without the two headers: the service worker adds them, the page reloads once and runs"""
        program = self.open(bare=True, browser=self.new_browser())  # no earlier test left a service worker in it
        program.start()
        self.assertTrue(program.page.evaluate("crossOriginIsolated"))
        self.assertEqual(program.page.loads(program.url), 2)

    def test_without_threads(self):
        """A host without the two headers where the service worker does not help: one reload, then the page says so"""
        page = self.new_page(browser=self.new_browser())
        page.before(IDLE_SERVICE_WORKER)
        page.open(self.site.bare_url)
        page.wait('document.body?.dataset.state === "trouble"', 60, "the page with what is wrong")
        self.assertIn("Threads", page.evaluate('document.getElementById("trouble").innerText'))
        time.sleep(2)  # long enough to see a loop
        self.assertEqual(page.loads(self.site.bare_url), 2)

    def test_service_worker_off(self):
        """Without headers and without a service worker: the page says that threads are missing, with a picture"""
        program = self.open(query="nosw", bare=True)
        text = program.trouble()
        self.assertIn("Threads", text)
        self.assertNotIn("WebGL", text)
        self.assertNotIn("SIMD", text)
        self.picture_shown(program)
        self.picture(program, "without-threads")

    def test_without_webgl(self):
        """A browser without WebGL 2: the page says so, with a picture"""
        program = self.open(browser=self.new_browser(webgl=False))
        text = program.trouble()
        self.assertIn("WebGL 2", text)
        self.assertNotIn("Threads", text)
        self.picture_shown(program)

    def test_without_simd(self):
        """A browser without WebAssembly's vector instructions: the page says so, and loads no program"""
        page = self.new_page()
        page.before("WebAssembly.validate = () => false;")
        page.open(self.site.url)
        page.wait('document.body?.dataset.state === "trouble"', 60, "the page with what is wrong")
        self.assertIn("SIMD", page.evaluate('document.getElementById("trouble").innerText'))
        self.assertFalse([url for url in page.urls() if url.endswith(".wasm")])

    def test_file_missing(self):
        """A file of the program that does not come: the page names it and offers to reload"""
        page = self.new_page()
        page.block("/normscope.wasm")
        page.open(self.site.url)
        page.wait('document.body?.dataset.state === "trouble"', 60, "the page with what is wrong")
        text = page.evaluate('document.getElementById("trouble").innerText')
        self.assertIn("could not be loaded", text)
        self.assertIn("Reload", text)

    def test_fresh(self):
        """A visit begun anew: a line says that it is not kept, and the address asks for it no longer"""
        page = self.new_page()
        page.open(self.site.url + "?fresh&threads=999")
        page.wait("window.normscope?.marks.firstFrame", 120, "the first frame")
        page.wait('document.getElementById("note").textContent.includes("Begun anew")', 10, "the line about it")
        self.assertEqual(page.evaluate("location.search"), "?threads=999")
        self.assertLessEqual(page.evaluate("window.normscope.status().threads"), 8)  # there are no more workers

    def test_refused(self):
        """Threads that are no number: the program refuses them, and the page says why"""
        self.assertIn("--threads: expected a number", self.open(query="fresh&threads=many").trouble())

    def test_storage_refused(self):
        """A browser that keeps nothing: one line says so, and the program runs"""
        page = self.new_page()
        page.before(
            'Object.defineProperty(window, "indexedDB", { get() { throw new DOMException("refused", "SecurityError"); } });'
        )
        page.open(self.site.url + "?fresh")
        page.wait("window.normscope?.marks.firstFrame", 120, "the first frame")
        page.wait('document.getElementById("note").textContent.includes("keeps nothing")', 10, "the line about storage")

    def test_dark(self):
        """A first visit is dark where the browser prefers that"""
        program = self.open(scheme="dark").start()
        program.step(60)
        program.pause()
        program.settle()
        self.assertEqual(program.status()["theme"], "dark")
        self.picture(program, "lab-dark")

    def test_small_screens(self):
        """1024 x 600 fills the window; on a phone the canvas keeps its least size, and a line says how to move it"""
        program = self.open(width=1024, height=600)
        program.start()
        self.assertEqual(self.canvas(program), [1024, 600])
        program.step(30)
        program.pause()
        program.settle()
        self.picture(program, "1024x600")
        phone = self.open(width=390, height=844, ratio=3, touch=True)
        phone.start()
        width, height = self.canvas(phone)
        self.assertEqual(width, 768)
        self.assertGreaterEqual(height, 600)
        phone.page.wait('document.getElementById("note").textContent.includes("Two fingers")', 10, "the notice")
        phone.settle(2)  # at most: the runs train on
        self.picture(phone, "390x844")

    def canvas(self, program):
        """Returns the size of the canvas in CSS px."""
        box = 'document.getElementById("canvas").getBoundingClientRect()'
        return program.page.evaluate(f"(({{width, height}}) => [width, height])({box})")

    def picture_shown(self, program):
        """Waits until the picture of what one would see has come and is drawn."""
        image = 'document.getElementById("picture")'
        program.page.wait(
            f"{image}.complete && {image}.naturalWidth >= 1000 && {image}.offsetHeight > 0", 20, "the picture"
        )
