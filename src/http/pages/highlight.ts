/** Syntax highlighting of code as HTML. Unknown tokens stay plain, and the text is never changed. */
import { escape } from './layout.ts'

type Kind = 'comment' | 'string' | 'number' | 'keyword' | 'name'
type Rule = readonly [Kind, RegExp]

const KEYWORDS = {
  script:
    'import|from|export|default|const|let|var|function|return|if|else|for|of|in|while|do|break|continue|new|class|extends|async|await|' +
    'try|catch|finally|throw|typeof|instanceof|true|false|null|undefined|type|interface|as',
  python:
    'import|from|as|def|return|if|elif|else|for|in|while|break|continue|class|with|try|except|finally|raise|lambda|and|or|not|is|' +
    'True|False|None|async|await|yield|pass|del',
  shell: 'if|then|else|elif|fi|for|in|do|done|while|until|case|esac|function|export|eval|echo|exit|set',
  go: 'package|import|func|return|if|else|for|range|var|const|type|struct|interface|map|chan|go|defer|nil|true|false|switch|case|default',
}
const words = (list: string) => new RegExp(`\\b(?:${list})\\b`, 'y')
const NUMBER: Rule = ['number', /\b\d[\d_]*(?:\.\d+)?(?:[eE][+-]?\d+)?\b/y]
const DOUBLE = /"(?:\\.|[^"\\\n])*"/y
const SINGLE = /'(?:\\.|[^'\\\n])*'/y

const SCRIPT: readonly Rule[] = [
  ['comment', /\/\/[^\n]*|\/\*[\s\S]*?\*\//y],
  ['string', DOUBLE],
  ['string', SINGLE],
  ['string', /`(?:\\.|[^`\\])*`/y],
  ['keyword', words(KEYWORDS.script)],
  NUMBER,
  ['name', /[A-Za-z_$][\w$]*(?=\()/y],
]
const SHELL: readonly Rule[] = [
  ['comment', /(?<![^\s])#[^\n]*/y],
  ['string', /'[^']*'/y],
  ['string', /"(?:\\[\s\S]|[^"\\])*"/y],
  ['name', /\$(?:\w+|\{[^}]*\})/y],
  ['keyword', /(?<![^\s])--?[A-Za-z][\w-]*/y],
  ['keyword', words(KEYWORDS.shell)],
]
const PYTHON: readonly Rule[] = [
  ['comment', /#[^\n]*/y],
  ['string', /[rbf]{0,2}(?:"""[\s\S]*?"""|'''[\s\S]*?''')/y],
  ['string', /\b[rbf]{1,2}"(?:\\.|[^"\\\n])*"/y],
  ['string', DOUBLE],
  ['string', SINGLE],
  ['keyword', words(KEYWORDS.python)],
  NUMBER,
  ['name', /[A-Za-z_]\w*(?=\()/y],
]
const JSON_RULES: readonly Rule[] = [
  ['name', /"(?:\\.|[^"\\\n])*"(?=\s*:)/y],
  ['string', DOUBLE],
  ['keyword', words('true|false|null')],
  NUMBER,
]
const GO: readonly Rule[] = [
  ['comment', /\/\/[^\n]*|\/\*[\s\S]*?\*\//y],
  ['string', DOUBLE],
  ['string', /`[^`]*`/y],
  ['keyword', words(KEYWORDS.go)],
  NUMBER,
  ['name', /[A-Za-z_]\w*(?=\()/y],
]
const XML: readonly Rule[] = [
  ['comment', /<!--[\s\S]*?-->/y],
  ['keyword', /<\/?[\w:.-]+|\/?>/y],
  ['string', DOUBLE],
]

const RULES: Readonly<Record<string, readonly Rule[]>> = {
  ts: SCRIPT,
  js: SCRIPT,
  sh: SHELL,
  bash: SHELL,
  console: SHELL,
  env: SHELL,
  python: PYTHON,
  json: JSON_RULES,
  go: GO,
  xml: XML,
}

/** The start of a word: rules only match there, so that `id2` is not a name and a number. */
const isStart = (text: string, at: number) => at === 0 || !/\w/.test(text[at - 1]!) || !/\w/.test(text[at]!)

export function highlight(text: string, language: string): string {
  const rules = RULES[language]
  if (!rules) return escape(text)
  let html = ''
  let plainFrom = 0
  for (let at = 0; at < text.length;) {
    const token = isStart(text, at) ? match(rules, text, at) : null
    if (!token) {
      at++
      continue
    }
    html += `${escape(text.slice(plainFrom, at))}<span class="t-${token.kind}">${escape(token.text)}</span>`
    at += token.text.length
    plainFrom = at
  }
  return html + escape(text.slice(plainFrom))
}

function match(rules: readonly Rule[], text: string, at: number): { kind: Kind; text: string } | null {
  for (const [kind, pattern] of rules) {
    pattern.lastIndex = at
    const matched = pattern.exec(text)?.[0]
    if (matched) return { kind, text: matched }
  }
  return null
}
