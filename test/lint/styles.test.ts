import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import { listFiles } from '../../tools/imports.ts'
import { literalClasses, oddStyleNames, shortClasses, unknownClasses, unusedClasses, uselessUtilities } from '../../tools/styles.ts'
import type { Fault, Tree } from '../../tools/tidy.ts'

const root = path.join(import.meta.dirname, '../..')
const RULES = { unusedClasses, unknownClasses, shortClasses, oddStyleNames, literalClasses, uselessUtilities }

// Goal: a class of the console is in one style sheet beside its component, is used, and has a name that a reader understands.
const isConsole = (file: string) => file.startsWith('packages/console/') && /\.(tsx?|css|html)$/.test(file)
const tree: Tree = new Map(
  listFiles(root)
    .filter(isConsole)
    .map((file) => [file, readFileSync(path.join(root, file), 'utf8')]),
)
for (const [name, rule] of Object.entries(RULES))
  test(`styles: ${name}`, () =>
    assert.deepEqual(
      rule(tree).map(({ file, line, advice }) => `${file}:${line}: ${advice}`),
      [],
    ))

const planted = (rule: (tree: Tree) => Fault[], files: Record<string, string>) =>
  rule(new Map(Object.entries(files).map(([name, text]) => [`packages/console/${name}`, text]))).map(
    ({ file, line }) => `${file.replace('packages/console/', '')}:${line}`,
  )

test('each style rule finds a planted violation, and accepts similar valid code', () => {
  const component = "import styles from './chip.module.css'\nexport const Chip = () => <i className={styles.chip} />\n"
  const css = '/* .comment */\n.chip {\n  width: 1.5px;\n}\n@media (width < 3px) {\n  .chip :global(.note) {\n    top: 0;\n  }\n}\n'
  const fine = { 'src/ui/chip.tsx': component, 'src/ui/chip.module.css': css, 'src/ui/note.module.css': '.note {}\n' }
  const use = { 'src/ui/note.tsx': "import styles from './note.module.css'\nconst a = styles.note\n" }
  for (const rule of Object.values(RULES)) assert.deepEqual(planted(rule, { ...fine, ...use }), [], rule.name)

  assert.deepEqual(planted(unusedClasses, fine), ['src/ui/note.module.css:1'])
  assert.deepEqual(planted(unknownClasses, { ...fine, 'src/ui/chip.tsx': component.replace('styles.chip', 'styles.chop') }), [
    'src/ui/chip.tsx:2',
  ])
  assert.deepEqual(planted(unknownClasses, { ...fine, 'src/styles/base.css': '\n.gone {}\n.maplibregl-x {}\n.note {}\n' }), [
    'src/styles/base.css:2',
  ])
  assert.deepEqual(planted(unknownClasses, { ...fine, 'index.html': '<p class="chip note">\n<p class="btn">' }), ['index.html:2'])
  assert.deepEqual(planted(shortClasses, { 'src/ui/chip.module.css': '.row {}\n.rows {}\n.g12 {}\n' }), [
    'src/ui/chip.module.css:1',
    'src/ui/chip.module.css:3',
  ])
  assert.deepEqual(planted(oddStyleNames, { 'src/ui/chip.module.css': '.big-chip {}\n', 'src/parts/chip.module.css': '' }), [
    'src/ui/chip.module.css:1',
    'src/parts/chip.module.css:1',
  ])
  const imports = "import styles from './note.module.css'\nimport ui from './ui.module.css'\n"
  const sheets = { 'src/ui/ui.module.css': '.danger {\n  color: red;\n}\n', 'src/ui/note.module.css': '.note {\n  top: 0;\n}\n' }
  const joined = `${imports}const a = classes(styles.note, isBad && ui.small, ui.danger)\n`
  assert.deepEqual(planted(uselessUtilities, { ...sheets, 'src/ui/note.tsx': joined }), [])
  const coloured = { ...sheets, 'src/ui/note.module.css': '.help,\n.note {\n  top: 0;\n  color: grey;\n}\n' }
  assert.deepEqual(planted(uselessUtilities, { ...coloured, 'src/ui/note.tsx': joined }), ['src/ui/note.tsx:3'])
  assert.deepEqual(planted(literalClasses, { 'src/ui/chip.tsx': '<i className="chip" />\n<i className={className} />\n' }), [
    'src/ui/chip.tsx:1',
  ])
})
