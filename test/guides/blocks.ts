/** What of a guide can be run: its blocks of shell with what the guide shows as the answer of each, and its programs. */

interface Block {
  code: string
  /** A tool that a plain machine lacks, as in a block that opens with `sh gdal`; else null. */
  needs: string | null
  /** The JSON that follows at once. */
  shown: string | null
}

export interface Guide {
  blocks: Block[]
  /** All blocks under a line that says `TypeScript:` or `Python:`, as one program each; empty where there are none. */
  programs: Record<Language, string>
}

type Language = 'ts' | 'python'
const LABELS: Readonly<Record<Language, string>> = { ts: 'TypeScript:', python: 'Python:' }

export function guideOf(markdown: string): Guide {
  const guide: Guide = { blocks: [], programs: { ts: '', python: '' } }
  let end = 0
  for (const match of markdown.matchAll(/^```([^\n]*)\n(.*?)^```$/gms)) {
    const [whole, kind = '', code = ''] = match
    const [language = '', needs] = kind.split(' ')
    const before = markdown.slice(end, match.index).trimEnd()
    if (language === 'sh') guide.blocks.push({ code, needs: needs ?? null, shown: null })
    else if (language === 'json' && before === '' && guide.blocks.length > 0) guide.blocks.at(-1)!.shown = code
    else if ((language === 'ts' || language === 'python') && before.split('\n').at(-1) === LABELS[language])
      guide.programs[language] += code
    end = match.index + whole.length
  }
  return guide
}

/** The program with the client of the checkout, which a reader has installed. */
export const typescriptOf = ({ programs }: Guide, root: string): string =>
  programs.ts
    .replaceAll("'@groundtrack/client/node'", `'${root}/packages/client/src/node.ts'`)
    .replaceAll("'@groundtrack/client'", `'${root}/packages/client/src/index.ts'`)

/** Packages that a plain Python lacks. */
const PACKAGES = ['pystac_client', 'rasterio']

const imports = (python: string, name: string) => new RegExp(`^(import|from) .*\\b${name}\\b`, 'm').test(python)

/** The client of the checkout is there, but it needs httpx. */
export const packagesOf = (python: string): string[] => [
  ...(imports(python, 'groundtrack') ? ['httpx'] : []),
  ...PACKAGES.filter((name) => imports(python, name)),
]

/**
 * One script for one shell, and the programs after it with what it has exported, all at once: they do not know of each other.
 * `npm` is the checkout's, and a script of its own is run as `npm run` would, without npm's second of looking around.
 */
export function scriptOf(
  blocks: readonly Block[],
  { root, node, programs }: Record<'root' | 'node', string> & { programs: readonly string[] },
): string {
  const head = (index: number) => `echo; echo '=== block ${index}'`
  const steps = blocks.map(({ code }, index) => `${head(index)}\n${code}`)
  const begun = programs.map((command, index) => `${command} > program-${index}.txt & PROGRAM_${index}=$!`)
  const ended = programs.map((_, index) => `${head(blocks.length + index)}\nwait $PROGRAM_${index}; cat program-${index}.txt`)
  const own = `'${node}' '${root}/tools/demo-env.ts'`
  const npm = `npm() { if [ "\${*:1:3}" = 'run -s demo:env' ]; then ${own} "\${@:4}"; else command npm --prefix '${root}' "$@"; fi; }`
  return ['set -eu -o pipefail', npm, ...steps, ...begun, ...ended].join('\n')
}
