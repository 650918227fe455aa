/** The whole of .oxlintrc.json: rules written by hand, and the import rules of every room. `npm run gen` writes the file. */
import { nameOf, ROOMS, type Room } from './rooms.ts'

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

/** The import rules of a room, as oxlint reads them. What a room does not name is refused, a room of tomorrow included. */
function patternsOf(room: Room): Pattern[] {
  if (room.sees === 'all') return [A_TEST]
  const isFile = !room.path.endsWith('/')
  const own = room.apart || isFile || !room.path.startsWith('src/') ? [] : [room.path]
  const types = room.seesTypesOf ?? []
  const list = [...room.sees, ...types.map((path) => `types of ${short(path)}`)].map(short)
  const ours = isFile ? ['#*', '#*/**', './*', './*/**'] : ['#*', '#*/**']
  const seen = [...own, ...room.sees, ...types].flatMap((path) => (isFile ? [`!#${glob(path)}`, `!./${glob(path)}`] : [`!#${glob(path)}`]))
  const patterns: Pattern[] = [
    room.path.startsWith('src/')
      ? { regex: String.raw`^\.\./`, message: 'cross a folder with #…, so that the crossing can be read' }
      : { regex: String.raw`^(\.\./)+src/`, message: 'cross into src/ with #…, so that the crossing can be read' },
    A_TEST,
  ]
  if (!room.sql) patterns.push(ANY_SQL)
  if (types.length > 0)
    patterns.push({
      regex: `^${isFile ? String.raw`(#|\./)` : '#'}(${types.map((path) => `${short(path)}/`).join('|')})`,
      allowTypeImports: true,
      message: `${nameOf(room)} sees only types of ${types.map(short).join(', ')}`,
    })
  // Last and the only group, because oxlint asks nothing else about an import that a group lets pass.
  const message = list.length > 0 ? `${nameOf(room)} sees ${list.join(', ')}` : `${nameOf(room)} sees nothing of ours`
  return [...patterns, { group: [...ours, ...seen], message }]
}

const short = (path: string) => path.replace(/^src\//, '').replace(/\/$/, '')
const glob = (path: string) => path.replace(/^src\//, '').replace(/\/$/, '/**')

function importRules(room: Room): Override {
  return {
    files: [room.path === 'src/' ? 'src/*.ts' : room.path.replace(/\/$/, '/**')],
    excludeFiles: ['**/*.test.ts'],
    rules: { 'no-restricted-imports': ['error', { patterns: patternsOf(room) }] },
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
      'max-lines-per-function': ['error', { max: 130, skipBlankLines: true, skipComments: true }], // Markup is long, not deep.
      'no-restricted-globals': ['error', { name: 'fetch', message: 'calls go through packages/console/src/api' }],
    },
  },
  {
    // The transport itself, bytes that are no call, and the world's outline.
    files: ['packages/console/src/{api/recorder.ts,ui/auth-image.tsx,screens/uploads/upload-work.ts,screens/sign-in/globe.tsx}'],
    rules: { 'no-restricted-globals': 'off' },
  },
  {
    files: ['**/*.test.ts', 'test/**', 'bench/**', 'tools/**', 'sandbox/demo/**'],
    rules: { 'max-lines-per-function': 'off', 'no-restricted-globals': 'off' },
  },
]

/** The text of .oxlintrc.json. Folders come before rooms within them, so that these keep rules of their own. */
export function lintConfiguration(): string {
  const rooms = ROOMS.toSorted((a, b) => a.path.length - b.path.length)
  const configuration = {
    $schema: './node_modules/oxlint/configuration_schema.json',
    plugins: ['typescript', 'import', 'unicorn'],
    categories: { correctness: 'error' },
    ignorePatterns: ['node_modules', 'data', 'tmp', 'packages/*/dist', 'src/http/pages/assets/**'],
    rules: RULES,
    overrides: [...rooms.map(importRules), ...EXCEPTIONS],
  }
  return `${JSON.stringify(configuration, null, 2)}\n`
}
