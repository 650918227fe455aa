/** The whole of .oxlintrc.json: rules written by hand, and the import rules of every folder. `npm run gen` writes the file. */
import { nameOf, FOLDERS, type Folder } from './layers.ts'

interface Pattern {
  readonly regex?: string
  readonly group?: readonly string[]
  readonly allowTypeImports?: true
  readonly message: string
}

interface Override {
  readonly files: readonly string[]
  readonly excludeFiles?: readonly string[]
  readonly rules: Readonly<Record<string, unknown>>
}

const ANY_SQL: Pattern = { regex: '^(kysely|pg|pg-boss)(/|$)', message: 'SQL lives in model/ and db/' }
const A_TEST: Pattern = { regex: String.raw`\.test\.ts$`, message: 'a test is imported by nobody' }

/** The import rules of a folder for oxlint. A folder that is not listed cannot be imported, and neither can future ones. */
function patternsOf(folder: Folder): Pattern[] {
  if (folder.imports === 'all') return [A_TEST]
  const isFile = !folder.path.endsWith('/')
  const own = folder.apart || isFile || !folder.path.startsWith('src/') ? [] : [folder.path]
  const types = folder.importsTypesOf ?? []
  const list = [...folder.imports, ...types.map((path) => `types of ${short(path)}`)].map(short)
  const ours = isFile ? ['#*', '#*/**', './*', './*/**'] : ['#*', '#*/**']
  const seen = [...own, ...folder.imports, ...types].flatMap((path) =>
    isFile ? [`!#${glob(path)}`, `!./${glob(path)}`] : [`!#${glob(path)}`],
  )
  const patterns: Pattern[] = [
    folder.path.startsWith('src/')
      ? { regex: String.raw`^\.\./`, message: 'cross a folder with #…, so that the crossing can be read' }
      : { regex: String.raw`^(\.\./)+src/`, message: 'cross into src/ with #…, so that the crossing can be read' },
    A_TEST,
  ]
  if (!folder.sql) patterns.push(ANY_SQL)
  if (types.length > 0)
    patterns.push({
      regex: `^${isFile ? String.raw`(#|\./)` : '#'}(${types.map((path) => `${short(path)}/`).join('|')})`,
      allowTypeImports: true,
      message: `${nameOf(folder)} imports only types of ${types.map(short).join(', ')}`,
    })
  // Last and the only group, because oxlint asks nothing else about an import that a group lets pass.
  const message = list.length > 0 ? `${nameOf(folder)} imports ${list.join(', ')}` : `${nameOf(folder)} imports no other folder`
  return [...patterns, { group: [...ours, ...seen], message }]
}

const short = (path: string) => path.replace(/^src\//, '').replace(/\/$/, '')
const glob = (path: string) => path.replace(/^src\//, '').replace(/\/$/, '/**')

function importRules(folder: Folder): Override {
  return {
    files: [folder.path === 'src/' ? 'src/*.ts' : folder.path.replace(/\/$/, '/**')],
    excludeFiles: ['**/*.test.ts'],
    rules: { 'no-restricted-imports': ['error', { patterns: patternsOf(folder) }] },
  }
}

const RULES = {
  'import/no-cycle': 'error',
  eqeqeq: ['error', 'always', { null: 'ignore' }],
  'max-lines-per-function': ['error', { max: 70, skipBlankLines: true, skipComments: true }],
  'max-params': ['error', { max: 5 }],
  'typescript/consistent-type-imports': ['error', { disallowTypeAnnotations: false }],
  'typescript/no-explicit-any': 'error',
  'unicorn/filename-case': 'off', // test/lint/tidy.test.ts knows the exceptions.
  'no-restricted-globals': ['error', { name: 'fetch', message: 'outbound requests go through the egress guard' }],
  'no-eval': 'error',
  'no-new-func': 'error',
}

const EXCEPTIONS: readonly Override[] = [
  { files: ['src/db/migrations/**'], rules: { 'max-lines-per-function': 'off' } },
  {
    files: ['packages/share/**'],
    rules: {
      'no-restricted-globals': 'off',
      'no-restricted-imports': [
        'error',
        { patterns: [{ regex: String.raw`^(#|\.\./|node:)`, message: 'a page imports its own modules and what /assets serves' }] },
      ],
    },
  },
  {
    files: ['packages/client/**', 'packages/cli/**', 'examples/**'],
    rules: {
      'no-restricted-globals': 'off',
      'no-restricted-imports': [
        'error',
        { patterns: [{ regex: '^#', message: 'a package knows nothing of the service but its contract' }] },
      ],
    },
  },
  {
    files: ['packages/console/**'],
    rules: {
      'max-lines-per-function': ['error', { max: 100, skipBlankLines: true, skipComments: true }], // Markup is long, not deep.
      'no-restricted-globals': ['error', { name: 'fetch', message: 'calls go through packages/console/src/api' }],
    },
  },
  {
    // The transport itself, bytes that are no call, the gazetteer, and the world's outline.
    files: [
      'packages/console/src/api/{base-maps,data-tiles,deployment,places,recorder,tile-image}.ts',
      'packages/console/src/{ui/auth-image.tsx,screens/sign-in/globe.tsx}',
    ],
    rules: { 'no-restricted-globals': 'off' },
  },
  {
    files: ['**/*.test.ts', 'test/**', 'bench/**', 'tools/**', 'sandbox/demo/**'],
    rules: { 'max-lines-per-function': 'off', 'no-restricted-globals': 'off' },
  },
]

/** The text of .oxlintrc.json. Folders come before folders within them, so that these keep rules of their own. */
export function lintConfiguration(): string {
  const folders = FOLDERS.toSorted((a, b) => a.path.length - b.path.length)
  const configuration = {
    $schema: './node_modules/oxlint/configuration_schema.json',
    plugins: ['typescript', 'import', 'unicorn'],
    categories: { correctness: 'error' },
    ignorePatterns: ['node_modules', 'data', 'tmp', 'packages/*/dist', 'src/http/pages/assets/**'],
    rules: RULES,
    overrides: [...folders.map(importRules), ...EXCEPTIONS],
  }
  return `${JSON.stringify(configuration, null, 2)}\n`
}
