// Runs at the end of `npm ci`: bundles the service, so that the first start need not. Plain JavaScript, because the system's Node may be
// old. It never fails: without the tools for it, as in a production install, the service starts from its sources.
import { spawnSync } from 'node:child_process'
import path from 'node:path'

const root = path.dirname(path.dirname(new URL(import.meta.url).pathname))
const chosen = spawnSync(process.execPath, [path.join(root, 'tools/node.mjs')], { encoding: 'utf8' })
const node = chosen.stdout.trim()
if (chosen.status === 0 && node !== '')
  spawnSync(node, ['--disable-warning=ExperimentalWarning', path.join(root, 'tools/bundle.ts')], { cwd: root, stdio: 'ignore' })
