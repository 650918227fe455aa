// Runs at the end of `npm ci`: bundles the service and builds the console, so that the first start need not, beside everything else that
// it does. Plain JavaScript, because the system's Node may be old. It never fails: without the tools for it, as in a production install,
// the service starts from its sources.
import { spawnSync } from 'node:child_process'
import path from 'node:path'
import { fileURLToPath } from 'node:url'

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)))
const chosen = spawnSync(process.execPath, [path.join(root, 'tools/node.mjs')], { encoding: 'utf8' })
const node = chosen.stdout.trim()
if (chosen.status === 0 && node !== '')
  for (const tool of ['tools/bundle.ts', 'tools/build-console.ts'])
    spawnSync(node, ['--disable-warning=ExperimentalWarning', path.join(root, tool)], { cwd: root, stdio: 'ignore' })
