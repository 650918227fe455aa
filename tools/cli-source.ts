/** The generated files of packages/cli: what its commands take, and the manual page. */
import { publishedOperations, type Document, type Published } from './client-source.ts'
import { refName, type Schema } from './typescript.ts'

const FOLDER = 'packages/cli/src/generated'

/** A shape is written out where it is used; one that holds itself stops at an open object. */
const MAX_DEPTH = 12

function inlined(document: Document, node: unknown, depth = 0): unknown {
  if (Array.isArray(node)) return node.map((part) => inlined(document, part, depth + 1))
  if (node === null || typeof node !== 'object') return node
  const { $ref } = node as Schema
  if ($ref) return depth > MAX_DEPTH ? { type: 'object' } : inlined(document, document.components.schemas[refName($ref)], depth + 1)
  return Object.fromEntries(Object.entries(node).map(([key, value]) => [key, inlined(document, value, depth + 1)]))
}

/** The generated files by path. */
export function cliFiles(document: Document): Map<string, string> {
  const operations = publishedOperations(document)
  const files = new Map<string, string>()
  const summaries = Object.fromEntries(operations.map(({ id, summary }) => [id, summary]))
  files.set(`${FOLDER}/summaries.json`, `${JSON.stringify(summaries, null, 1)}\n`)
  for (const [domain, list] of Map.groupBy(operations, ({ id }) => id.split('.')[0]!))
    files.set(
      `${FOLDER}/${domain.replaceAll('_', '-')}.json`,
      `${JSON.stringify(Object.fromEntries(list.map((op) => [op.id, entry(document, op)])), null, 1)}\n`,
    )
  return files
}

/** What a command needs to know; answers are printed as they come. */
function entry(document: Document, { id, summary, description, tier, raw, isIdempotent, paging, input, example }: Published): object {
  return { id, summary, description, tier, raw, isIdempotent, paging, input: inlined(document, input), example }
}
