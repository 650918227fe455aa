/** What `npm start`, the image and the systemd units run: the service from its bundle, or from its sources where there is none. */
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { BUNDLE_ENTRIES, requireBundle, ROOT } from './start/bundle.ts'

const bundle = await requireBundle()
if (bundle) {
  const { begin } = (await import(bundle.early)) as typeof import('./start/early.ts')
  begin(process.env)
}
await import(bundle?.main ?? pathToFileURL(path.join(ROOT, BUNDLE_ENTRIES.main)).href)
