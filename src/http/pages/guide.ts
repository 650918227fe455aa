/** Converts a guide of the repository to the parts of a page: HTML, table of contents, and sections for search. */
import { Marked, type Token, type Tokens } from 'marked'
import { highlight } from './highlight.ts'
import { escape } from './layout.ts'

interface Heading {
  id: string
  title: string
  depth: number
}

/** The plain text under one heading. */
interface Section extends Heading {
  text: string
}

export interface Guide {
  name: string
  title: string
  html: string
  headings: readonly Heading[]
  sections: readonly Section[]
}

/** The languages of examples, in the order of their tabs. An unlabelled shell block before others is the first. */
const WAYS = ['curl', 'Command line', 'TypeScript', 'Python'] as const
type Way = (typeof WAYS)[number]

/** Links between guides become links here; other relative links point into the repository, which the service does not serve. */
function addressOf(href: string): string | null {
  const here = /^http:\/\/127\.0\.0\.1:8080(\/.*)$/.exec(href) // The default URL of a local service: this one.
  if (here) return here[1]!
  if (/^(https?:|#|\/)/.test(href)) return href
  const guide = /^([\w-]+)\.md(#.*)?$/.exec(href)
  if (guide) return `/docs/guides/${guide[1]}${guide[2] ?? ''}`
  return href === '../openapi.json' ? '/openapi.json' : null
}

const idOf = (text: string) =>
  text
    .toLowerCase()
    .replaceAll(/<[^>]*>|&\w+;/g, '')
    .replaceAll(/[^\w]+/g, '-')
    .replaceAll(/^-|-$/g, '')

/** Blocks that scroll horizontally can be focused with the keyboard. */
const codeBlock = ({ text, lang = '' }: Tokens.Code): string => {
  const language = lang.split(' ')[0]!
  const named = language ? ` data-language="${escape(language)}"` : ''
  return `<div class="code"><pre tabindex="0"${named}><code>${highlight(text, language)}</code></pre></div>\n`
}

const marked = new Marked({
  renderer: {
    html: ({ text }) => escape(text),
    code: codeBlock,
    link({ href, tokens }) {
      const text = this.parser.parseInline(tokens)
      const address = addressOf(href)
      return address === null ? text : `<a href="${escape(address)}">${text}</a>`
    },
    image: ({ href, text }) =>
      /^images\/[\w-]+\.jpg$/.test(href)
        ? `<img src="/docs/guides/${escape(href)}" alt="${escape(text)}" width="100%" loading="lazy">`
        : escape(text),
    heading({ tokens, depth }) {
      const text = this.parser.parseInline(tokens)
      return `<h${depth} id="${idOf(text)}">${text}</h${depth}>\n`
    },
    // A checklist to read: inputs without labels would mean nothing to a screen reader.
    checkbox: ({ checked }) => `<span aria-hidden="true">${checked ? '☑' : '☐'}</span> `,
    table({ header, rows }) {
      const cells = (row: readonly Tokens.TableCell[], tag: 'th' | 'td') =>
        `<tr>${row.map(({ tokens }) => `<${tag}>${this.parser.parseInline(tokens)}</${tag}>`).join('')}</tr>`
      const body = rows.map((row) => cells(row, 'td')).join('\n')
      const table = `<table><thead>${cells(header, 'th')}</thead><tbody>${body}</tbody></table>`
      return `<div class="wide" tabindex="0" role="group" aria-label="Table">${table}</div>\n`
    },
  },
})

const isCode = (token: Token | undefined): token is Tokens.Code => token?.type === 'code'
const isShell = (token: Token | undefined): token is Tokens.Code => isCode(token) && /^(sh|bash)\b/.test(token.lang ?? '')
const isAnswer = (token: Token | undefined): token is Tokens.Code => isCode(token) && /^json\b/.test(token.lang ?? '')

function wayOf(token: Token | undefined): Way | null {
  if (token?.type !== 'paragraph') return null
  return WAYS.find((way) => (token as Tokens.Paragraph).text === `${way}:`) ?? null
}

/** Groups blocks that show the same in several languages; spaces between blocks are tokens, too. */
function grouped(tokens: readonly Token[]): (Token | Map<Way, Tokens.Code[]>)[] {
  const solid = tokens.filter(({ type }) => type !== 'space')
  const parts: (Token | Map<Way, Tokens.Code[]>)[] = []
  for (let at = 0; at < solid.length;) {
    const group = new Map<Way, Tokens.Code[]>()
    let next = at
    if (isShell(solid[at])) {
      const length = isAnswer(solid[at + 1]) ? 2 : 1
      if (wayOf(solid[at + length]) !== null) {
        group.set('curl', solid.slice(at, at + length) as Tokens.Code[])
        next += length
      }
    }
    for (let way = wayOf(solid[next]); way !== null && isCode(solid[next + 1]) && !group.has(way); way = wayOf(solid[next])) {
      const length = isAnswer(solid[next + 2]) ? 2 : 1
      group.set(way, solid.slice(next + 1, next + 1 + length) as Tokens.Code[])
      next += 1 + length
    }
    parts.push(group.size > 0 ? group : solid[at]!)
    at = group.size > 0 ? next : at + 1
  }
  return parts
}

/** Without scripts, all languages are shown one below another. */
const groupHtml = (group: ReadonlyMap<Way, readonly Tokens.Code[]>): string => {
  const panels = WAYS.flatMap((way) => {
    const blocks = group.get(way)
    return blocks
      ? [`<section data-way="${way}" aria-label="${way}"><p class="way">${way}</p>\n${blocks.map(codeBlock).join('')}</section>`]
      : []
  })
  return `<div class="ways">${panels.join('\n')}</div>\n`
}

const plain = (token: Token): string => ('text' in token ? String(token.text) : token.raw).replaceAll(/\s+/g, ' ').trim()

export async function readGuide(name: string, markdown: string): Promise<Guide> {
  const tokens = marked.lexer(markdown)
  const html: string[] = []
  const headings: Heading[] = []
  const sections: Section[] = []
  for (const part of grouped(tokens)) {
    if (part instanceof Map) {
      html.push(groupHtml(part))
      if (sections.length > 0) sections.at(-1)!.text += ` ${[...part.values()].flat().map(plain).join(' ')}`
      continue
    }
    html.push(marked.parser([part]))
    if (part.type === 'heading') {
      const { depth, text } = part as Tokens.Heading
      const heading = { id: idOf(marked.parser([part])), title: text.replaceAll('`', ''), depth }
      headings.push(heading)
      sections.push({ ...heading, text: '' })
    } else if (sections.length > 0) sections.at(-1)!.text += ` ${plain(part)}`
  }
  return { name, title: headings[0]?.title ?? name, html: html.join(''), headings, sections }
}

interface Found {
  guide: string
  href: string
  heading: string
  /** The text around the first match. */
  excerpt: string
}

const AROUND = 80

/** Sections that contain every word; matches in headings first. */
export function findIn(guides: readonly Guide[], query: string, limit: number): Found[] {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean)
  if (words.length === 0) return []
  const results = guides.flatMap(({ name, title, sections }) =>
    sections.flatMap(({ id, title: heading, depth, text }) => {
      const [head, body] = [`${title} ${heading}`.toLowerCase(), text.toLowerCase()]
      if (!words.every((word) => head.includes(word) || body.includes(word))) return []
      const score = words.filter((word) => heading.toLowerCase().includes(word)).length * 2 + (depth === 1 ? 1 : 0)
      const at = Math.max(0, body.indexOf(words[0]!) - AROUND)
      const excerpt = `${at > 0 ? '…' : ''}${text.slice(at, at + 2 * AROUND).trim()}${at + 2 * AROUND < text.length ? '…' : ''}`
      return [{ score, guide: title, heading, excerpt, href: `/docs/guides/${name}${depth === 1 ? '' : `#${id}`}` }]
    }),
  )
  return results
    .toSorted((a, b) => b.score - a.score)
    .slice(0, limit)
    .map(({ score: _score, ...result }) => result)
}
