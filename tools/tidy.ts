/** What a tidy tree has none of. Pure functions over the files of the repository, so that a planted fault can show that each is found. */
import { importsOf, resolve } from './imports.ts'

/** The text of every file of the repository that is code; other files by name alone, with an empty text. */
export type Tree = ReadonlyMap<string, string>

export interface Fault {
  readonly file: string
  readonly line: number
  readonly advice: string
}

const COLUMNS = 140

/** Modules that are loaded by a name known only when the program runs, and export what their loader asks for. */
const LOADED_BY_NAME = [
  /^src\/adapters\/raster\/handlers\.ts$/,
  /^src\/raster\/testing\/pool-handlers\.ts$/,
  /^sandbox\/vendors\/scene-renderer\.handlers\.ts$/,
  /^packages\/share\/share\.ts$/,
  /^packages\/share\/welcome\.ts$/,
  /^packages\/console\/vite\.config\.ts$/,
  /^packages\/cli\/src\/main\.ts$/,
  // The client has a copy of its own; a test asks the original what it prices.
  /^src\/contract\/prices\.ts$/,
  /^packages\/client\/src\/generated\/prices\.ts$/,
  /^test\/security\/rows\/\w+\.ts$/,
  /^test\/exposed\/rows\/[\w-]+\.ts$/,
]

/** Folders in which every file is started by hand or by a runner. */
const STARTED = [
  /^src\/main\.ts$/,
  /\.test\.ts$/,
  /^bench\/[^/]+\.ts$/,
  /^tools\/[^/]+\.ts$/,
  /^test\/run\.ts$/,
  /^test\/gdal\/[^/]+\.ts$/,
  /^test\/stac\/clients\.ts$/,
  /^test\/peers\/[^/]+\.ts$/,
  /^test\/browser\/pictures\.ts$/,
  /^sandbox\/scenes\/preview\.ts$/,
  /^packages\/client\/src\/(index|node)\.ts$/,
  /^packages\/cli\/src\/main\.ts$/,
  /^examples\/[^/]+\.ts$/,
  /^docs\/guides\/\w+\/[^/]+\.ts$/,
]

const lineAt = (text: string, index: number) => text.slice(0, index).split('\n').length
const isAmong = (patterns: readonly RegExp[], file: string) => patterns.some((pattern) => pattern.test(file))
const isCode = (file: string) => /\.tsx?$/.test(file)

function* code(tree: Tree): Generator<[string, string]> {
  for (const [file, text] of tree) if (isCode(file)) yield [file, text]
}

export function wideLines(tree: Tree): Fault[] {
  return [...code(tree)].flatMap(([file, text]) =>
    text.split('\n').flatMap((line, index) => {
      const width = [...line].length
      return width > COLUMNS ? [{ file, line: index + 1, advice: `${width} columns: break the line at ${COLUMNS}` }] : []
    }),
  )
}

const DECLARATION = /^export (?:declare )?(?:async )?(?:function\*?|const|let|class|abstract class|interface|type|enum) ([\w$]+)/gm
const LIST = /^export (?:type )?\{([^}]*)\}(?! from)/gm

/** Names that a file exports, each with its line. */
function exportsOf(text: string): Map<string, number> {
  const names = new Map<string, number>()
  for (const match of text.matchAll(DECLARATION)) names.set(match[1]!, lineAt(text, match.index))
  for (const match of text.matchAll(LIST))
    for (const part of match[1]!.split(',').filter((name) => name.trim() !== ''))
      names.set(
        part
          .replace(/^\s*type\s/, '')
          .trim()
          .split(/\s+as\s+/)
          .at(-1)!,
        lineAt(text, match.index),
      )
  const standard = text.match(/^export default\b/m)
  if (standard) names.set('default', lineAt(text, standard.index!))
  return names
}

const CLAUSE = /^(import|export)\s+(?:type\s+)?([^'"`;=]*?)\s*\bfrom\s*['"]([^'"\n]+)['"]/gm
const AWAITED = /(?:const|let)\s+(\{[^}]*\}|\w+)\s*=\s*\(?\s*await import\(\s*['"]([^'"\n]+)['"]\s*\)/g
const IMPORT_CALL = /\bimport\(\s*['"`]([^'"`\n]+)['"`]\s*\)(?:\.(\w+))?/g

const ALL = '*'

/** What a file takes from others: the file and a name, or `*` where it takes the whole module. */
function* taken(file: string, text: string): Generator<[string, string]> {
  const target = (specifier: string) => resolve(file, specifier) ?? ''
  for (const [, kind, clause, specifier] of text.matchAll(CLAUSE)) {
    const to = target(specifier!)
    const space = clause!.match(/\*\s+as\s+([\w$]+)/)?.[1]
    if (clause === '*' || (space && kind === 'export')) yield [to, ALL]
    else if (space) yield* membersOf(text, space).map((name): [string, string] => [to, name])
    const braces = clause!.match(/\{([^}]*)\}/)?.[1]
    for (const part of braces?.split(',') ?? []) yield [to, firstName(part)]
    if (/^[\w$]+/.test(clause!)) yield [to, 'default']
  }
  const named = new Set<number>()
  for (const match of text.matchAll(AWAITED)) {
    named.add(match.index + match[0].indexOf('import('))
    const [, pattern, specifier] = match
    const names = pattern!.startsWith('{') ? pattern!.slice(1, -1).split(',').map(firstName) : membersOf(text, pattern!)
    for (const name of names) yield [target(specifier!), name]
  }
  for (const match of text.matchAll(IMPORT_CALL)) if (!named.has(match.index)) yield [target(match[1]!), match[2] ?? ALL]
}

const firstName = (part: string) =>
  part
    .replace(/^\s*type\s/, '')
    .trim()
    .split(/\s+as\s+|\s*:/)[0]!

/** Members that are used of a namespace; the whole of it where it is handed on as a value. */
function membersOf(text: string, space: string): string[] {
  const uses = [...text.matchAll(new RegExp(String.raw`(?<![\w$.'"/-])${space}\b(?!['"/-])(?:\??\.(\w+))?`, 'g'))]
  const declared = new RegExp(String.raw`(\*\s+as\s+|(const|let)\s+)$`)
  return uses
    .filter(({ index }) => !declared.test(text.slice(0, index).slice(-20)) && !inComment(text, index))
    .map(([, member]) => member ?? ALL)
}

const inComment = (text: string, index: number) => /^\s*(\/\/|\/?\*)|\s\/\/ /.test(text.slice(text.lastIndexOf('\n', index) + 1, index))

export function unusedExports(tree: Tree): Fault[] {
  const used = new Map<string, Set<string>>()
  for (const [file, text] of code(tree))
    for (const [to, name] of taken(file, text)) {
      if (to === file) continue
      used.set(to, (used.get(to) ?? new Set()).add(name))
    }
  const faults: Fault[] = []
  for (const [file, text] of code(tree)) {
    // A test is imported by nobody; what it seems to export stands in texts that it plants.
    if (file.endsWith('.test.ts') || isAmong(LOADED_BY_NAME, file) || used.get(file)?.has(ALL)) continue
    for (const [name, line] of exportsOf(text))
      if (!used.get(file)?.has(name)) faults.push({ file, line, advice: `nobody imports ${name}: drop the word export, or the code` })
  }
  return faults
}

/** Names of modules in strings: workers, forked children, programs that a test or a bench starts. */
const NAMED_MODULE = /['"`]([\w$#./-]+\.tsx?)(?:\?[^'"`]*)?['"`]/g

export function unreachedFiles(tree: Tree): Fault[] {
  const reached = new Set<string>()
  const queue = [...tree.keys()].filter((file) => isCode(file) && isAmong([...STARTED, ...LOADED_BY_NAME], file))
  // Pages are loaded by the browser, from their HTML.
  for (const [file, text] of tree) if (file.endsWith('.html')) queue.push(...named(tree, file, text))
  while (queue.length > 0) {
    const file = queue.pop()!
    if (reached.has(file)) continue
    reached.add(file)
    const text = tree.get(file) ?? ''
    queue.push(...importsOf(file, text).map(({ to }) => to), ...named(tree, file, text))
  }
  return [...code(tree)]
    .filter(([file]) => !reached.has(file))
    .map(([file]) => ({ file, line: 1, advice: 'nothing that is started reaches this file: delete it, or import it' }))
}

/** Files of the tree that a text names, seen from the file itself, its folders, or the root. */
function named(tree: Tree, file: string, text: string): string[] {
  const folder = file.slice(0, file.lastIndexOf('/'))
  return [...text.matchAll(NAMED_MODULE)].flatMap(([, name]) => {
    const relative = name!.startsWith('.') || name!.startsWith('#') ? name! : `./${name}`
    const places = [resolve(file, relative)!, name!.replace(/^\//, ''), `${folder}/${name!.split('/').at(-1)}`]
    return places.filter((place) => tree.has(place)).slice(0, 1)
  })
}

/** How far down a reader should have to look for what a test is about. */
const GOAL_WITHIN_LINES = 60

export function testsWithoutGoal(tree: Tree): Fault[] {
  return [...code(tree)]
    .filter(([file]) => file.endsWith('.test.ts'))
    .flatMap(([file, text]) => {
      const goal = text.search(/^[ \t]*(\/\/|\/\*\*|\*) ?Goal( \([^)]*\))?: \S/m)
      const first = text.search(/^(test|describe|suite)\(/m)
      const isNear = goal !== -1 && (first === -1 || goal < first || lineAt(text, goal) <= GOAL_WITHIN_LINES)
      return isNear ? [] : [{ file, line: 1, advice: 'write before the first test, in one sentence, what must hold: // Goal: …' }]
    })
}

const LEFTOVERS =
  /(^|\/)(gdalwmscache|__pycache__|node_modules|\.cache|\.DS_Store)(\/|$)|\.(log|tmp|swp|orig|rej|pyc|aux\.xml|tsbuildinfo)$|^(data|tmp)\//

export function leftovers(tree: Tree): Fault[] {
  return [...tree.keys()]
    .filter((file) => LEFTOVERS.test(file))
    .map((file) => ({ file, line: 1, advice: 'a cache or a product of a run: git rm --cached it, and name it in .gitignore' }))
}

const KEBAB = /^\.?[a-z0-9]+(-[a-z0-9]+)*(\.[a-z0-9]+(-[a-z0-9]+)*)*$/
const SNAKE = /^[a-z0-9]+([_-][a-z0-9]+)*(\.[a-z0-9]+([_-][a-z0-9]+)*)*$/
/**
 * Names that others chose: what a repository carries at its top, decision records, ids of operations and migrations, codecs in
 * the names of golden files.
 */
const GIVEN = /^(README|CHANGELOG|CONTRIBUTING|LICENSE|NOTICE|SECURITY)(\.md)?$/
const BY_ID = [/^src\/domains\//, /^src\/db\/migrations\//, /^test\/golden\//, /^test\/security\/rows\//]

export function oddNames(tree: Tree): Fault[] {
  return [...tree.keys()].flatMap((file) => {
    const wanted = isAmong(BY_ID, file) ? SNAKE : KEBAB
    const odd = file.split('/').find((part) => !wanted.test(part) && !GIVEN.test(part))
    return odd === undefined ? [] : [{ file, line: 1, advice: `name ${odd} in kebab case: lower case, words joined by hyphens` }]
  })
}
