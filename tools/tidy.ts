/** What a tidy tree has none of. Pure functions over the files of the repository, so that a planted fault can show that each is found. */
/** The text of every file of the repository that is code; other files by name alone, with an empty text. */
export type Tree = ReadonlyMap<string, string>

export interface Fault {
  readonly file: string
  readonly line: number
  readonly advice: string
}

const COLUMNS = 140

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
const GIVEN =
  /^(?:(?:README|CHANGELOG|CONTRIBUTING|LICENSE|NOTICE|SECURITY)(?:\.md)?|Containerfile|Chart\.yaml|NOTES\.txt|.+\.tpl|.+@\.service)$/
/** Modules of Python are imported by their names. */
const PYTHON = /^packages\/(python|qgis)\/.*\.(py|typed)$/
const MODULE = /^(_*[a-z0-9]+)+(_[a-z0-9]+)*(__)?(\.[a-z]+)?$/
const BY_ID = [/^src\/domains\//, /^src\/db\/migrations\//, /^test\/golden\//, /^test\/security\/rows\//]

export function oddNames(tree: Tree): Fault[] {
  return [...tree.keys()].flatMap((file) => {
    const wanted = PYTHON.test(file) ? MODULE : isAmong(BY_ID, file) ? SNAKE : KEBAB
    const odd = file.split('/').find((part) => !wanted.test(part) && !GIVEN.test(part))
    return odd === undefined ? [] : [{ file, line: 1, advice: `name ${odd} in kebab case: lower case, words joined by hyphens` }]
  })
}
