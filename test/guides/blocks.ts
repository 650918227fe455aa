/** What of a guide can be run: its blocks of shell, and what the guide shows as the answer of each. */

export interface Block {
  code: string
  /** A tool that a plain machine lacks, as in a block that opens with `sh gdal`; else null. */
  needs: string | null
  /** The JSON that follows at once. */
  shown: string | null
}

export function blocksOf(markdown: string): Block[] {
  const blocks: Block[] = []
  let end = 0
  for (const found of markdown.matchAll(/^```([^\n]*)\n(.*?)^```$/gms)) {
    const [whole, kind = '', code = ''] = found
    const [language, needs] = kind.split(' ')
    const isNext = markdown.slice(end, found.index).trim() === ''
    if (language === 'sh') blocks.push({ code, needs: needs ?? null, shown: null })
    else if (language === 'json' && isNext && blocks.length > 0) blocks.at(-1)!.shown = code
    end = found.index + whole.length
  }
  return blocks
}

/** One script for one shell. `npm` is the checkout's, wherever the files of the guide land. */
export function scriptOf(blocks: readonly Block[], root: string): string {
  const steps = blocks.map(({ code }, index) => `echo; echo '=== block ${index}'\n${code}`)
  return `set -eu -o pipefail\nnpm() { command npm --prefix '${root}' "$@"; }\n${steps.join('\n')}`
}
