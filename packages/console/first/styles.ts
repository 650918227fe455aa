/** Of a stylesheet without comments: the rules that can apply to a page. */
interface Words {
  tags: ReadonlySet<string>
  /** Classes with their dot, ids with their hash. */
  names: ReadonlySet<string>
}

/** What the script before the paint and the parser add by themselves. */
const ALWAYS = ['html', 'body']

function wordsOf(html: string): Words {
  const tags = new Set([...ALWAYS, ...[...html.matchAll(/<([a-z][\w-]*)/g)].map(([, tag]) => tag!)])
  const classes = [...html.matchAll(/\sclass="([^"]*)"/g)].flatMap(([, list]) => list!.split(/\s+/)).map((name) => `.${name}`)
  const ids = [...html.matchAll(/\sid="([^"]*)"/g)].map(([, id]) => `#${id}`)
  return { tags, names: new Set([...classes, ...ids]) }
}

/** Each block at the top: what stands before its brace, and what is inside. */
function* blocksOf(css: string): Generator<{ head: string; body: string }> {
  let from = 0
  let depth = 0
  let open = 0
  for (let at = 0; at < css.length; at++) {
    const char = css[at]
    if (char === ';' && depth === 0) from = at + 1
    if (char === '{' && depth++ === 0) open = at
    if (char === '}' && --depth === 0) {
      yield { head: css.slice(from, open).trim(), body: css.slice(open + 1, at) }
      from = at + 1
    }
  }
}

/** A comma inside of brackets parts no selectors. */
const partsOf = (selectors: string) => selectors.split(/,(?![^(]*\))/).map((selector) => selector.trim())

function canApply(selector: string, { tags, names }: Words): boolean {
  if (/maplibre/i.test(selector)) return false
  // What is in brackets only narrows.
  const bare = selector
    .replaceAll(/:[\w-]+\((?:[^()]|\([^()]*\))*\)/g, '')
    .replaceAll(/\[[^\]]*\]/g, '')
    .replaceAll(/::?[\w-]+/g, '')
  const needed = bare.match(/[.#][\w-]+/g) ?? []
  const elements = bare.replaceAll(/[.#][\w-]+/g, ' ').match(/[a-z][\w-]*/g) ?? []
  return needed.every((name) => names.has(name)) && elements.every((tag) => tags.has(tag))
}

function kept(css: string, words: Words): string {
  let out = ''
  for (const { head, body } of blocksOf(css)) {
    if (/^@(media|supports|layer)/.test(head)) {
      const inner = kept(body, words)
      if (inner !== '') out += `${head}{${inner}}`
    } else if (!head.startsWith('@')) {
      const selectors = partsOf(head).filter((selector) => canApply(selector, words))
      if (selectors.length > 0 && body !== '') out += `${selectors.join(',')}{${body}}`
    }
  }
  return out
}

export const stylesFor = (html: string, css: string): string => kept(css, wordsOf(html))
