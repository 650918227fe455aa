/**
 * Reads every import of src/, sandbox/ and the packages, type-only ones included, tests left out. Reports circles between files
 * and imports that the tables of folders and packages do not allow; fails on any. `npm run gen` draws src/ and sandbox/ as docs/layers.svg.
 */
import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { hasNoLayer, isUnlisted, packageRefusal, PACKAGES, refusal } from './layers.ts'

interface Import {
  readonly from: string
  readonly to: string
  readonly line: number
  readonly isTypeOnly: boolean
}

/** Folders of the repository that hold its files. */
const TOP_FOLDERS = ['bench', 'docs', 'examples', 'packages', 'sandbox', 'src', 'test', 'tools']

export interface Graph {
  readonly files: readonly string[]
  readonly imports: readonly Import[]
}

/** `import … from`, `export … from`, `import '…'` at the start of a line; `import('…')` anywhere. */
const STATEMENT =
  /^(?:import|export)\b(?<clause>[^'"`;=]*?\bfrom)?\s*['"](?<specifier>[^'"\n]+)['"]|\bimport\(\s*['"`](?<dynamic>[^'"`\n]+)['"`]/gm

/** Files of some folders, from the root of the repository. */
function listFolders(root: string, ...folders: readonly string[]): string[] {
  return folders.flatMap((folder) =>
    readdirSync(path.join(root, folder), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => path.relative(root, path.join(entry.parentPath, entry.name)).replaceAll(path.sep, '/'))
      .toSorted(),
  )
}

/**
 * Files that git knows or would take, so that a file is judged before it is committed. Without git, as in an unpacked
 * archive, everything that lies in the folders of the repository: an archive holds nothing else.
 */
export function listFiles(root: string): string[] {
  if (!existsSync(path.join(root, '.git'))) return listFolders(root, ...TOP_FOLDERS)
  const listed = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], { cwd: root, encoding: 'utf8' })
  return listed.split('\0').filter((file) => file !== '' && existsSync(path.join(root, file)))
}

/** The file that an import names, from the root of the repository; null where it is a package. */
export function resolve(from: string, specifier: string): string | null {
  const [bare] = specifier.split('?') as [string]
  if (bare.startsWith('#')) return `src/${bare.slice(1)}`
  return bare.startsWith('.') ? path.posix.join(path.posix.dirname(from), bare) : null
}

/** Imports of one file, in the order they are written. */
export function importsOf(file: string, text: string): Import[] {
  const imports: Import[] = []
  for (const { 0: statement, index, groups } of text.matchAll(STATEMENT)) {
    const to = resolve(file, groups!['specifier'] ?? groups!['dynamic'] ?? '')
    if (to === null) continue
    const names = groups!['clause']
      ?.match(/\{([^}]*)\}/)?.[1]
      ?.split(',')
      .filter((name) => name.trim() !== '')
    const isTypeOnly = /^(import|export) type\b/.test(statement) || (names?.every((name) => name.trim().startsWith('type ')) ?? false)
    imports.push({ from: file, to, line: text.slice(0, index).split('\n').length, isTypeOnly })
  }
  return imports
}

const isCode = (file: string) => /\.tsx?$/.test(file) && !/\.test\.ts$|\/testing\/|\.d\.ts$/.test(file)

function graphOf(root: string, folders: readonly string[]): Graph {
  const files = listFolders(root, ...folders).filter(isCode)
  return { files, imports: files.flatMap((file) => importsOf(file, readFileSync(path.join(root, file), 'utf8'))) }
}

export const readGraph = (root: string): Graph => graphOf(root, ['src', 'sandbox'])

const readPackages = (root: string): Graph =>
  graphOf(
    root,
    PACKAGES.map(({ path: folder }) => folder),
  )

/** Groups of files that import one another in a circle (Tarjan's strongly connected components, without recursion). */
export function circles({ files, imports }: Graph): string[][] {
  const next = Map.groupBy(imports, ({ from }) => from)
  const order = new Map<string, number>()
  const low = new Map<string, number>()
  const stack: string[] = []
  const onStack = new Set<string>()
  const cycles: string[][] = []
  const enter = (file: string) => {
    order.set(file, order.size)
    low.set(file, order.get(file)!)
    stack.push(file)
    onStack.add(file)
    return { file, targets: (next.get(file) ?? []).map(({ to }) => to)[Symbol.iterator]() }
  }
  for (const start of files) {
    if (order.has(start)) continue
    const path = [enter(start)]
    while (path.length > 0) {
      const { file, targets } = path.at(-1)!
      const { value: to, done } = targets.next()
      if (!done) {
        if (!order.has(to)) path.push(enter(to))
        else if (onStack.has(to)) low.set(file, Math.min(low.get(file)!, order.get(to)!))
        continue
      }
      path.pop()
      const above = path.at(-1)?.file
      if (above) low.set(above, Math.min(low.get(above)!, low.get(file)!))
      if (low.get(file) !== order.get(file)) continue
      const circle = stack.splice(stack.indexOf(file))
      for (const member of circle) onStack.delete(member)
      const isOwnCircle = next.get(file)?.some(({ to }) => to === file) ?? false
      if (circle.length > 1 || isOwnCircle) cycles.push(circle.toSorted())
    }
  }
  return cycles
}

/** Everything that is wrong with a graph, a line each. */
export function faults(graph: Graph): string[] {
  const unlisted = graph.files.filter(isUnlisted).map((file) => `${file}: is in no listed folder; add a row to tools/layers.ts`)
  const against = graph.imports.flatMap(({ from, to, line, isTypeOnly }) => {
    const reason = isUnlisted(from) ? null : refusal(from, to, isTypeOnly)
    return reason === null ? [] : [`${from}:${line}: imports ${to}, against the layers: ${reason}`]
  })
  return [...unlisted, ...against, ...circleFaults(graph)]
}

const circleFaults = (graph: Graph) =>
  circles(graph).map((circle) => `circle of ${circle.length} files, type-only imports included: ${circle.join(', ')}`)

/** The same of the packages. */
export function packageFaults(graph: Graph): string[] {
  const nowhere = graph.files.filter(hasNoLayer).map((file) => `${file}: is in no layer; name it in PACKAGES of tools/layers.ts`)
  const against = graph.imports.flatMap(({ from, to, line }) => {
    const reason = packageRefusal(from, to)
    return reason === null ? [] : [`${from}:${line}: imports ${to}, against the layers: ${reason}`]
  })
  return [...nowhere, ...against, ...circleFaults(graph)]
}

if (import.meta.main) {
  const root = path.dirname(import.meta.dirname)
  const [graph, packages] = [readGraph(root), readPackages(root)]
  const violations = [...faults(graph), ...packageFaults(packages)]
  for (const line of violations) console.error(line)
  console.log(
    `${graph.files.length} files and ${packages.files.length} of packages, ${graph.imports.length + packages.imports.length} imports: ` +
      `${violations.length === 0 ? 'no circle, none against the layers' : `${violations.length} faults`}`,
  )
  process.exitCode = violations.length > 0 ? 1 : 0
}
