/**
 * Holds docs/openapi.json against the contract that was published last: the newest tag `v*`, or what CONTRACT_BASE names.
 * An incompatible change fails. A compatible one must have raised `info.version`. Before the first release there is nothing to
 * hold it against: then it tells what changed since the parent commit and fails nothing.
 */
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import type { Document } from './client-source.ts'
import { changesBetween, type Change } from './compatibility.ts'

const root = path.dirname(import.meta.dirname)
const FILE = 'docs/openapi.json'
/** Of each kind, so many are shown. */
const MAX_SHOWN = 40
const MAX_DOCUMENT_BYTES = 64 * 1024 * 1024

type Published = Document & { readonly info: { readonly version: string } }

/** What is wrong, for a person; null where nothing is. */
export function verdict(changes: readonly Change[], versions: { before: string; after: string }): string | null {
  const breaking = changes.filter(({ kind }) => kind === 'breaking')
  if (breaking.length > 0)
    return `${breaking.length} incompatible changes: clients of ${versions.before} would break. Add beside what is there instead.`
  if (changes.length > 0 && !isRaised(versions))
    return `The contract has grown, so raise CONTRACT_VERSION in src/http/openapi.ts above ${versions.before}.`
  return null
}

function isRaised({ before, after }: { before: string; after: string }): boolean {
  const [a, b] = [before, after].map((version) => version.split('.').map(Number)) as [number[], number[]]
  const at = a.findIndex((part, index) => part !== b[index])
  return at !== -1 && b[at]! > a[at]!
}

const git = (...args: readonly string[]) =>
  execFileSync('git', args, { cwd: root, encoding: 'utf8', maxBuffer: MAX_DOCUMENT_BYTES, stdio: ['ignore', 'pipe', 'ignore'] })

function base(): { ref: string; isRelease: boolean } | null {
  const given = process.env['CONTRACT_BASE']
  if (given) return { ref: given, isRelease: true }
  try {
    const [newest] = git('tag', '--list', 'v*', '--sort=-version:refname', '--merged', 'HEAD').split('\n')
    if (newest) return { ref: newest, isRelease: true }
    return { ref: git('rev-parse', 'HEAD^').trim(), isRelease: false }
  } catch {
    return null // No history here, as in an unpacked archive.
  }
}

if (import.meta.main) {
  const baseline = base()
  if (!baseline) console.log('contract: no history to compare with')
  else {
    const after = JSON.parse(readFileSync(path.join(root, FILE), 'utf8')) as Published
    const before = JSON.parse(git('show', `${baseline.ref}:${FILE}`)) as Published
    const changes = changesBetween(before, after)
    for (const kind of ['breaking', 'additive'] as const)
      for (const { where, what } of changes.filter((change) => change.kind === kind).slice(0, MAX_SHOWN))
        console.log(`${kind}  ${where}: ${what}`)
    const wrong = verdict(changes, { before: before.info.version, after: after.info.version })
    console.log(`contract: ${changes.length} changes since ${baseline.ref}${wrong ? `. ${wrong}` : ''}`)
    if (wrong && !baseline.isRelease) console.log('contract: not released yet, so nothing fails')
    process.exitCode = wrong && baseline.isRelease ? 1 : 0
  }
}
