/**
 * Goal: openapi-python-client, openapi-generator and datamodel-code-generator make complete clients of the published contract, without
 * a warning, and a generated client can call the service.
 *
 * Run: npm test -- test/peers/generators.ts. GENERATOR_PYTHON is a Python with `.ci/requirements-generators.txt`; skips where there is
 * none. openapi-generator also needs Java.
 */
import assert from 'node:assert/strict'
import { execFile, spawnSync } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { world } from '../support/world.ts'

const PYTHON = process.env['GENERATOR_PYTHON'] ?? 'python3'
const IMPORTS = 'import openapi_python_client, datamodel_code_generator, openapi_generator_cli'
const skip = spawnSync(PYTHON, ['-c', IMPORTS]).status === 0 ? false : 'There is no Python with generators of clients on this machine'
const skipJava = spawnSync('java', ['-version']).status === 0 ? false : 'There is no Java on this machine'

const MAX_OUTPUT_BYTES = 64 * 1024 * 1024
/** Formatters stand beside the Python that has them. */
const env = { ...process.env, PATH: `${path.dirname(PYTHON)}:${process.env['PATH']}` }

async function run(command: string, args: readonly string[], cwd: string): Promise<string> {
  const file = command === 'python' ? PYTHON : path.join(path.dirname(PYTHON), command)
  const { stdout, stderr } = await promisify(execFile)(file, args, { cwd, env, maxBuffer: MAX_OUTPUT_BYTES })
  return `${stdout}${stderr}`
}

/**
 * Lines that openapi-generator logs for every document of OpenAPI 3.1, and for every object without fields: operations that need
 * no input take one.
 */
const NOTICES = [
  /OpenAPI 3\.1 support is still in beta/,
  /Failed to get the schema name: null/,
  /Codegen property is null \(e\.g\. map\/dict of undefined type\)/,
]

test('generators of clients', { skip }, async (t) => {
  const w = await world(t)
  const org = await w.organization()
  const folder = await mkdtemp(path.join(tmpdir(), 'generators-'))
  t.after(() => rm(folder, { recursive: true, force: true }))
  const spec = path.join(folder, 'openapi.json')
  await writeFile(spec, await (await fetch(`${w.baseUrl}/openapi.json`)).text())
  const script = path.join(import.meta.dirname, 'generators.py')
  const inspect = async (kind: string, ...args: readonly string[]) =>
    JSON.parse((await run('python', [script, kind, folder, spec, ...args], folder)).trim().split('\n').at(-1)!)

  await t.test('openapi-python-client makes every operation, and its client calls the service', async () => {
    const config = path.join(import.meta.dirname, 'generators.yaml')
    const options = ['--path', spec, '--output-path', path.join(folder, 'generated'), '--meta', 'none', '--config', config]
    const said = await run('openapi-python-client', ['generate', ...options, '--fail-on-warning'], folder)
    assert.doesNotMatch(said, /warning/i)
    const { operations, missing, called } = await inspect('openapi-python-client', w.baseUrl, org.owner.token)
    assert.ok(operations > 250)
    assert.deepEqual(missing, [])
    assert.equal(called.created, 'Reef')
    assert.ok(called.listed.includes('Reef'))
    assert.equal(called.problem, 'not-found')
    await rm(path.join(folder, 'generated'), { recursive: true })
  })

  await t.test('datamodel-code-generator makes a model of every request', async () => {
    const options = ['--input-file-type', 'openapi', '--output-model-type', 'pydantic_v2.BaseModel', '--formatters', 'builtin']
    const said = await run('datamodel-codegen', ['--input', spec, '--output', path.join(folder, 'generated.py'), ...options], folder)
    assert.equal(said, '')
    const { missing, called } = await inspect('datamodel-code-generator')
    assert.deepEqual(missing, [])
    assert.equal(called.created, 'Reef')
  })

  for (const language of ['python', 'typescript-fetch'])
    await t.test(`openapi-generator makes every operation in ${language}`, { skip: skipJava }, async () => {
      const output = language === 'python' ? folder : path.join(folder, language)
      // A field that is called `datetime`, as STAC has it, would hide Python's type of the same name.
      const naming = language === 'python' ? ['--name-mappings', 'datetime=datetime_'] : []
      const said = await run('openapi-generator-cli', ['generate', '-i', spec, '-g', language, '-o', output, ...naming], folder)
      const warnings = said.split('\n').filter((line) => /\b(WARN|ERROR)\b/.test(line) && !NOTICES.some((notice) => notice.test(line)))
      assert.deepEqual(warnings, [])
      if (language !== 'python') return
      const { missing } = await inspect('openapi-generator')
      assert.deepEqual(missing, [])
    })
})
