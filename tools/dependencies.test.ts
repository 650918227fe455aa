import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'

// Goal: no dependency without its reason, and no reason for a version that is not the one installed.
test('docs/dependencies.md lists every dependency with its version', () => {
  const read = (file: string) => readFileSync(new URL(`../${file}`, import.meta.url), 'utf8')
  type Manifest = Record<'dependencies' | 'optionalDependencies' | 'devDependencies', Record<string, string>>
  const manifest = JSON.parse(read('package.json')) as Manifest
  const console = JSON.parse(read('packages/console/package.json')) as Manifest
  const cli = JSON.parse(read('packages/cli/package.json')) as Manifest
  const runtime = JSON.parse(read('packages/runtime/package.json')) as Manifest
  const rows = read('docs/dependencies.md')
    .split('## Install scripts and telemetry')[0]!
    .split('\n')
    .filter((line) => line.startsWith('| `'))
  const listed = rows.flatMap((row) => {
    const [, names, version] = row.split('|').map((cell) => cell.trim()) as [string, string, string]
    const [first, ...others] = [...names.matchAll(/`([^`]+)`/g)].map((match) => match[1]!)
    return [first!, ...others.map((name) => name.replace('…', first!.split('/')[0]!))].map((name) => `${name} ${version}`)
  })
  const wanted = Object.entries({
    ...manifest.dependencies,
    ...manifest.optionalDependencies,
    ...manifest.devDependencies,
    ...console.devDependencies,
    ...cli.devDependencies,
    ...runtime.optionalDependencies,
  })
    .filter(([, version]) => !version.startsWith('file:'))
    .map(([name, version]) => `${name} ${version}`)
  assert.deepEqual(listed.toSorted(), wanted.toSorted())
})

// Goal: nothing reports an installation, and nobody runs a script at installation without its line in the document.
test('install scripts are known, and no analytics package is in the tree', () => {
  const read = (file: string) => readFileSync(new URL(`../${file}`, import.meta.url), 'utf8')
  const { packages } = JSON.parse(read('package-lock.json')) as { packages: Record<string, { name?: string; hasInstallScript?: true }> }
  const nameOf = (at: string) => packages[at]!.name ?? at.split('node_modules/').at(-1)!
  assert.ok(Object.keys(packages).every((at) => !nameOf(at).startsWith('@scarf/')))
  const documented = read('docs/dependencies.md').split('## Install scripts and telemetry')[1]!
  for (const at of Object.keys(packages).filter((key) => packages[key]!.hasInstallScript)) {
    const name = nameOf(at)
    assert.ok(
      documented.includes(`| \`${name}\``) || documented.includes(`| \`${name.split('/')[0]}/…\``),
      `${name} runs a script at installation`,
    )
  }
})
