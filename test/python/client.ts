/**
 * Run: PYTHON_CLIENT=venv/bin/python npm test -- test/python/client.ts. The interpreter needs what .ci/requirements-python.txt lists.
 * `PYTEST=-k=upload` runs a part. `PYTHONS` can name interpreters of other versions, with spaces, for the core of the client.
 */
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import { DEMO_EMAIL, DEMO_PASSWORD } from '../../sandbox/demo/account.ts'
import { COLLECTIONS, SCENES } from '../../sandbox/demo/scenes.ts'
import { freePort } from '../support/port.ts'
import { accountOf, createAccount, pytest, WITHOUT_PYTHON, writeFiles } from '../support/pytest.ts'
import { openLab, until } from '../support/service.ts'

const OTHERS = (process.env['PYTHONS'] ?? '').split(' ').filter((word) => word !== '')

interface Part {
  readonly name: string
  readonly files: readonly string[]
  readonly env?: Record<string, string>
}

/** At the same time, because most of it waits: for packages, for orders, for the service, which starts meanwhile. The longest first. */
const PARTS: readonly Part[] = [
  ...OTHERS.map((python, index) => ({ name: `other-${index + 1}`, files: ['test_environment.py'], env: { OTHER_PYTHON: python } })),
  { name: 'calls', files: ['test_calls.py', 'test_transfers.py', 'test_bounds.py', 'test_geo.py'] },
  { name: 'examples', files: ['test_examples.py'] },
  { name: 'package', files: ['test_package.py', 'test_environment.py'] },
  { name: 'notebooks', files: ['test_notebooks.py'] },
]

// Goal: the Python client does what its documentation says, against a running service: both clients, extras, examples, notebooks, types.
test('the Python client', { skip: WITHOUT_PYTHON, concurrency: PARTS.length }, async (t) => {
  const lab = openLab()
  t.after(() => lab.close())
  const [port, storePort, folder] = [await freePort(), await freePort(), lab.dataDir()]
  const baseUrl = `http://127.0.0.1:${port}`
  const ready = path.join(folder, 'ready')
  const shared = {
    ...(await writeFiles(folder)),
    SERVICE_READY: ready,
    DEMO_EMAIL,
    DEMO_PASSWORD,
    DEMO_ITEM: SCENES[0]!.name,
    DEMO_COLLECTION: COLLECTIONS.seasons.name,
  }
  const start = async () => {
    const ports = { PORT: String(port), STORE_PORT: String(storePort) }
    await lab.start({ env: { ...ports, DATA_DIR: lab.dataDir(), DEMO: '1', SANDBOX_DELIVERY_SECONDS: '1' } })
    await until('the demo', async () => {
      const demo = (await (await fetch(`${baseUrl}/docs/demo.json`)).json()) as { fields?: { job_id?: string } }
      return demo.fields?.job_id
    })
    for (const { name } of PARTS) await createAccount(baseUrl, name)
    writeFileSync(ready, '')
  }
  await Promise.all([
    start(),
    ...PARTS.map(({ name, files, env }) =>
      t.test(`${name}: ${env?.['OTHER_PYTHON'] ?? files.join(', ')}`, async (part) => {
        part.diagnostic(await pytest(files, { ...shared, ...accountOf(baseUrl, name), ...env }))
      }),
    ),
  ])
})
