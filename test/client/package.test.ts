import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { after, before, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { signWebhook } from '../../packages/client/src/index.ts'
import { scene } from '../support/scene.ts'
import { guideOf } from '../guides/blocks.ts'
import { world } from '../support/world.ts'

const root = path.join(import.meta.dirname, '../..')
const source = path.join(root, 'packages/client')
const tsc = path.join(root, 'node_modules/.bin/tsc')
const CORE_BYTES = 15_000
const EXAMPLES = readdirSync(path.join(root, 'examples')).filter((name) => name.endsWith('.ts'))

const run = (command: string, args: readonly string[], cwd: string) => {
  const { status, stdout, stderr } = spawnSync(command, args, { cwd, encoding: 'utf8' })
  assert.equal(status, 0, `${command} ${args.join(' ')}: ${stdout}${stderr}`)
  return stdout
}

/** What a program does that imports a file, and so on: its own files of the package. */
function reached(file: string, seen = new Set<string>()): Set<string> {
  if (seen.has(file)) return seen
  seen.add(file)
  for (const [, specifier] of readFileSync(file, 'utf8').matchAll(/(?:from|import) '(\.[^']+)'/g))
    reached(path.join(path.dirname(file), specifier!), seen)
  return seen
}

const PROGRAM = `import { Groundtrack, isProblem, type Item, type PlatformEvent } from '@groundtrack/client'
import { Client } from '@groundtrack/client/core'
import { ItemsApi } from '@groundtrack/client/operations/items'

const gt = new Groundtrack({ baseUrl: 'http://127.0.0.1:9', apiKey: 'svc_x', maxRetries: 0 })
export async function names(project_id: string): Promise<string[]> {
  const items: Item[] = await gt.items.list({ project_id }).all()
  return items.map(({ name }) => name)
}
export const created = (event: PlatformEvent) => (event.event_type === 'item.created' ? event.data.bbox : null)
// @ts-expect-error: a field that does not exist is refused by the compiler.
export const wrong = () => gt.items.list({ project: 'x' })
const items = new ItemsApi(new Client({ baseUrl: 'http://127.0.0.1:9', maxRetries: 0 }))
try {
  await items.get({ item_id: 'x' })
} catch (error) {
  console.log(isProblem(error, 'not-found'), error instanceof Error ? error.name : '')
}
`

/** An application of Vite's whose entry is `${mode}.ts`. */
const VITE = `export default ({ mode }) => ({
  logLevel: 'error',
  build: {
    target: 'es2023',
    outDir: 'bundled',
    emptyOutDir: false,
    modulePreload: false,
    rollupOptions: { input: mode + '.ts', preserveEntrySignatures: 'strict', output: { entryFileNames: mode + '.js' } },
  },
})
`

/** A folder of nobody's, with the package in it as npm installs it: no link into the repository, and nothing from a registry. */
const folder = mkdtempSync(path.join(os.tmpdir(), 'groundtrack-package-'))
const installed = path.join(folder, 'node_modules/@groundtrack/client')
after(() => rmSync(folder, { recursive: true, force: true }))
before(() => {
  const copy = path.join(folder, 'source')
  cpSync(source, copy, { recursive: true, filter: (file) => path.basename(file) !== 'dist' })
  run(tsc, ['-p', 'tsconfig.build.json', '--outDir', path.join(copy, 'dist')], source)
  run('npm', ['pack', '--ignore-scripts', '--pack-destination', folder], copy) // The one script builds what was built above.
  rmSync(copy, { recursive: true })
  writeFileSync(path.join(folder, 'package.json'), '{ "private": true, "type": "module" }')
  const packed = readdirSync(folder).filter((name) => name.endsWith('.tgz'))
  run('npm', ['install', '--offline', '--no-audit', '--no-fund', ...packed.map((name) => `./${name}`)], folder)
  writeFileSync(path.join(folder, 'program.ts'), PROGRAM)
  for (const name of EXAMPLES) {
    const text = readFileSync(path.join(root, 'examples', name), 'utf8')
    const own = text.replaceAll("'../packages/client/src/index.ts'", "'@groundtrack/client'")
    writeFileSync(path.join(folder, name), own.replaceAll("'../packages/client/src/node.ts'", "'@groundtrack/client/node'"))
  }
})

/** The TypeScript of each guide as one program. That it runs is another test's to say. */
function writeGuides(): string[] {
  const guides = path.join(root, 'docs/guides')
  const programs = readdirSync(guides)
    .filter((name) => name.endsWith('.md'))
    .map((name) => [`guide-${path.basename(name, '.md')}.ts`, guideOf(readFileSync(path.join(guides, name), 'utf8')).programs.ts] as const)
    .filter(([, program]) => program !== '')
  for (const [name, program] of programs) writeFileSync(path.join(folder, name), program)
  assert.ok(programs.length >= 8, 'the guides where newcomers work have programs')
  return programs.map(([name]) => name)
}

// Goal: the packed client works in its own folder: types resolve in strict mode in Node and in a bundler, and it stays small.
test('the package', (t) => {
  const { exports, dependencies } = JSON.parse(readFileSync(path.join(installed, 'package.json'), 'utf8'))
  assert.equal(dependencies, undefined, 'the client depends on nothing')
  assert.deepEqual(readdirSync(installed).toSorted(), ['README.md', 'dist', 'package.json'])
  for (const entry of [exports['.'], exports['./core'], exports['./node']] as { types: string; default: string }[])
    for (const file of [entry.types, entry.default]) assert.ok(existsSync(path.join(installed, file)), file)

  const strict = ['--strict', '--exactOptionalPropertyTypes', '--target', 'es2023', '--lib', 'es2023,dom,dom.iterable']
  const node = ['--types', 'node', '--typeRoots', path.join(root, 'node_modules/@types'), '--allowImportingTsExtensions']
  const files = ['program.ts', ...EXAMPLES, ...writeGuides()]
  run(tsc, ['--noEmit', '--module', 'nodenext', '--moduleResolution', 'nodenext', ...strict, ...node, ...files], folder)
  run(tsc, ['--noEmit', '--module', 'esnext', '--moduleResolution', 'bundler', ...strict, ...node, ...files], folder)
  // A browser's.
  run(tsc, ['--noEmit', '--module', 'esnext', '--moduleResolution', 'bundler', ...strict, '--types', '', 'program.ts'], folder)
  assert.equal(run(process.execPath, ['program.ts'], folder), 'false ConnectionError\n')

  const bundle = (name: string, text: string): string => {
    writeFileSync(path.join(folder, `${name}.ts`), text)
    writeFileSync(path.join(folder, 'vite.config.mjs'), VITE)
    run(process.execPath, [path.join(root, 'node_modules/.bin/vite'), 'build', '--mode', name], folder)
    return path.join(folder, 'bundled', `${name}.js`)
  }
  assert.equal(run(process.execPath, [bundle('program', PROGRAM)], folder), 'false ConnectionError\n', 'it runs when it is bundled')
  const bundled = gzipSync(readFileSync(bundle('core', "export * from '@groundtrack/client/core'\n")), { level: 9 }).length

  const size = (entry: string) => {
    const files = [...reached(path.join(installed, 'dist', entry))]
    const text = files
      .map((file) =>
        readFileSync(file, 'utf8')
          .replaceAll(/^\s*\/\*\*[\s\S]*?\*\/\n/gm, '')
          .replaceAll(/^\s+/gm, ''),
      )
      .join('')
    return gzipSync(text, { level: 9 }).length
  }
  const [core, all] = [size('core.js'), size('index.js')]
  t.diagnostic(`gzip, comments and indents left out, not minified: core ${core} bytes, everything ${all} bytes`)
  t.diagnostic(`gzip, bundled and minified by Vite: core ${bundled} bytes`)
  assert.ok(core < CORE_BYTES && bundled < core, `the core has ${core} bytes, ${bundled} when it is bundled`)
})

// Goal: every example runs with only the package, and does what its first line says.
test('examples', async (t) => {
  const w = await world(t, { vendors: true })
  const org = await w.organization()
  writeFileSync(path.join(folder, 'field.tif'), await scene())
  const environment = {
    PATH: process.env['PATH']!,
    GROUNDTRACK_URL: w.baseUrl,
    GROUNDTRACK_EMAIL: org.owner.email,
    GROUNDTRACK_PASSWORD: org.owner.password,
    WEBHOOK_SECRET: 'whsec_test',
  }
  const start = (name: string, ...args: string[]) => spawn(process.execPath, [name, ...args], { cwd: folder, env: environment })
  const example = (name: string, ...args: string[]): Promise<string> =>
    new Promise((resolve, reject) => {
      const child = start(name, ...args)
      let [out, err] = ['', '']
      child.stdout.on('data', (chunk: Buffer) => (out += chunk.toString()))
      child.stderr.on('data', (chunk: Buffer) => (err += chunk.toString()))
      child.on('error', reject).on('close', (code) => (code === 0 ? resolve(out) : reject(new Error(`${name}: ${out}${err}`))))
    })

  await t.test('upload-and-map', async () => {
    const { item_id } = JSON.parse(await example('upload-and-map.ts', 'field.tif', 'map.html')) as { item_id: string }
    const page = readFileSync(path.join(folder, 'map.html'), 'utf8')
    const tiles = /"(http[^"]+)"\], tileSize/.exec(page)![1]!
    const tile = await globalThis.fetch(tiles.replace('{z}/{x}/{y}', '0/0/0'))
    assert.deepEqual([tile.status, tile.headers.get('content-type')], [200, 'image/png'])
    assert.ok(page.includes(item_id))
  })
  await t.test('ndvi-report', async () =>
    assert.match(await example('ndvi-report.ts'), /^name,date,p2,p98\n"field[^\n]+,-?\d\.\d{3},\d\.\d{3}\n$/),
  )
  await t.test('monitor-field', async () =>
    assert.match(await example('monitor-field.ts', '1'), /field.*: NDVI from -?\d\.\d\d to \d\.\d\d/),
  )
  await t.test('buy-scene lists the available scenes', async () => {
    const hasOrders = w.platform.operations.has('orders.archive.estimate')
    const shown = example('buy-scene.ts', 'sandbox-vhr', '151.20,-33.87,151.21,-33.86', '2029-01-01/2029-06-30')
    if (hasOrders) assert.match(await shown, /% cloud, \d+ credits\/km²\nPrice: \d+ credits/)
    else await assert.rejects(shown, /% cloud, \d+ credits\/km²[\s\S]*no such operation/)
  })
  await t.test('webhook-receiver', async (t) => {
    const child = start('webhook-receiver.ts', '0')
    t.after(() => child.kill())
    const lines: string[] = []
    const port = await new Promise<number>((resolve) =>
      child.stdout.on('data', (chunk: Buffer) => {
        lines.push(chunk.toString())
        const port = /"port":(\d+)/.exec(chunk.toString())?.[1]
        if (port) resolve(Number(port))
      }),
    )
    const body = JSON.stringify({ event_id: '1', event_type: 'item.created', timestamp: '2030-01-01T00:00:00.000Z', entity_id: 'item-1' })
    const send = async (signature: string) =>
      (await globalThis.fetch(`http://127.0.0.1:${port}`, { method: 'POST', body, headers: { 'x-svc-signature': signature } })).status
    const signature = await signWebhook(body, 'whsec_test')
    assert.deepEqual([await send('sha256=00'), await send(signature), await send(signature)], [401, 204, 204])
    assert.equal(lines.join('').match(/item\.created item-1/g)?.length, 1)
  })
})
