"""Formulas: the TeX that the pages use, as MathML, which browsers set by themselves. A command that is not known is an
error that names it, so that no page shows its source. Called by markdown.py."""
import html
import re



def pairs(listed):
    words = listed.split()
    return dict(zip(words[::2], words[1::2]))


SYMBOLS = pairs("""
alpha α beta β gamma γ delta δ epsilon ε varepsilon ε zeta ζ eta η theta θ kappa κ lambda λ mu μ nu ν xi ξ pi π rho ρ
sigma σ tau τ phi φ varphi φ chi χ psi ψ omega ω Gamma Γ Delta Δ Theta Θ Lambda Λ Sigma Σ Phi Φ Psi Ψ Omega Ω
infty ∞ partial ∂ nabla ∇ dots … ldots … cdots ⋯ top ⊤ ell ℓ""")
OPERATORS = pairs("""
cdot · times × odot ⊙ otimes ⊗ circ ∘ pm ± le ≤ leq ≤ ge ≥ geq ≥ ne ≠ neq ≠ approx ≈ sim ∼ propto ∝ equiv ≡ in ∈
to → ll ≪ gg ≫ leftarrow ← rightarrow → mapsto ↦ langle ⟨ rangle ⟩ lbrace { rbrace } mid ∣ lfloor ⌊ rfloor ⌋""")
BIG = {"sum": "∑", "prod": "∏", "int": "∫"}
NAMES = {"log", "ln", "exp", "max", "min", "sin", "cos", "tanh", "lim", "arg"}
ACCENTS = {"hat": "^", "bar": "¯", "tilde": "~", "dot": "˙", "vec": "→", "overline": "¯"}
SPACES = {",": 0.17, ";": 0.28, ":": 0.22, "!": -0.17, " ": 0.25, "quad": 1, "qquad": 2}
WORDS = {"text", "mathrm", "operatorname", "mathbf", "textbf"}
TOKEN = re.compile(r"\\[A-Za-z]+|\\.|\d+(?:\.\d+)?|\s+|.", re.S)


def mathml(source, display=False):
    """A <math> element; ValueError for what is not known."""
    parser = Parser(source, display)
    inside = parser.row(None)
    mode = ' display="block"' if display else ""
    return f"<math{mode}><mrow>{inside}</mrow></math>"


class Parser:
    def __init__(self, source, display):
        self.tokens = TOKEN.findall(source)
        self.at, self.display, self.source = 0, display, source

    def fail(self, what):
        raise ValueError(f"formula {self.source.strip()!r}: {what}")

    def peek(self):
        while self.at < len(self.tokens) and self.tokens[self.at].isspace():
            self.at += 1
        return self.tokens[self.at] if self.at < len(self.tokens) else None

    def take(self):
        token = self.peek()
        if token is None:
            self.fail("ends too early")
        self.at += 1
        return token

    def row(self, end):
        """All up to the token `end`, which is taken too; None: up to the end."""
        out = []
        while (token := self.peek()) != end:
            if token is None:
                self.fail(f"expected {end}")
            out.append(self.scripted())
        if end:
            self.at += 1
        return "".join(out)

    def scripted(self):
        big = (self.peek() or "\\").lstrip("\\") in BIG
        base, below, above = self.atom(), None, None
        while self.peek() in ("_", "^", "'"):
            sign = self.take()
            if sign == "_":
                below = self.argument()
            else:
                above = (above or "") + ("<mo>′</mo>" if sign == "'" else self.argument())
        kind = ("under", "over") if big and self.display else ("sub", "sup")
        if below is None and above is None:
            return base
        parts = "".join(f"<mrow>{part}</mrow>" for part in (below, above) if part is not None)
        name = "m" + (kind[0] if below is not None else "") + (kind[1] if above is not None else "")
        return f"<{name}>{base}{parts}</{name}>"

    def argument(self):
        if self.peek() == "{":
            self.at += 1
            return self.row("}")
        if self.peek() and self.peek()[0].isdigit() and len(self.peek()) > 1:  # \frac12
            token = self.tokens[self.at]
            self.tokens[self.at:self.at + 1] = list(token)
        return self.atom()

    def words(self):
        if self.take() != "{":
            self.fail("expected { after words")
        out = ""
        while self.at < len(self.tokens) and self.tokens[self.at] != "}":
            out += self.tokens[self.at].removeprefix("\\")
            self.at += 1
        if self.at == len(self.tokens):
            self.fail("expected }")
        self.at += 1
        return html.escape(out).replace(" ", "\u00a0")

    def fence(self):
        token = self.take()
        sign = {"\\|": "‖", "\\{": "{", "\\}": "}", ".": ""}.get(token) or OPERATORS.get(token[1:], token)
        return f'<mo fence="true" stretchy="true">{html.escape(sign)}</mo>' if sign else ""

    def atom(self):
        token = self.take()
        if token == "{":
            return f"<mrow>{self.row('}')}</mrow>"
        if token[0] == "\\":
            return self.command(token[1:])
        if token[0].isdigit():
            return f"<mn>{token}</mn>"
        if token.isalpha():
            return f"<mi>{token}</mi>"
        if token in "()[]|/":
            return f'<mo stretchy="false">{token}</mo>'
        return f"<mo>{html.escape({'-': '−', '*': '∗'}.get(token, token))}</mo>"

    def command(self, name):
        if name in SYMBOLS:
            return f"<mi>{SYMBOLS[name]}</mi>"
        if name in OPERATORS:
            return f'<mo stretchy="false">{html.escape(OPERATORS[name])}</mo>'
        if name in BIG:
            return f'<mo largeop="true" movablelimits="false">{BIG[name]}</mo>'
        if name in NAMES:
            return f"<mi>{name}</mi>"
        if name in SPACES:
            return f'<mspace width="{SPACES[name]}em"></mspace>'
        if name in ("|", "{", "}", "%", "_", "&", "#"):
            return f'<mo stretchy="false">{html.escape("‖" if name == "|" else name)}</mo>'
        if name in ("frac", "tfrac", "dfrac"):
            return f"<mfrac><mrow>{self.argument()}</mrow><mrow>{self.argument()}</mrow></mfrac>"
        if name == "sqrt":
            if self.peek() == "[":
                self.at += 1
                index = self.row("]")
                return f"<mroot><mrow>{self.argument()}</mrow><mrow>{index}</mrow></mroot>"
            return f"<msqrt>{self.argument()}</msqrt>"
        if name in ACCENTS:
            return f'<mover accent="true"><mrow>{self.argument()}</mrow><mo>{ACCENTS[name]}</mo></mover>'
        if name in WORDS:
            kind = "mtext" if name.startswith("text") else "mi"
            bold = ' style="font-weight:bold"' if name.endswith("bf") else ' mathvariant="normal"'
            return f"<{kind}{bold if kind == 'mi' else ''}>{self.words()}</{kind}>"
        if name == "left":
            first = self.fence()
            inside = self.row("\\right")
            return f"<mrow>{first}{inside}{self.fence()}</mrow>"
        return self.fail(f"\\{name} is not known to platforms/site/tex.py")
