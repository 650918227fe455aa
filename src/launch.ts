/** What `npm start`, the image and the systemd units run: the service from its bundle, or from its sources where there is none. */
import { requireBundle } from './start/bundle.ts'

const bundle = await requireBundle()
if (bundle) {
  const { begin } = (await import(bundle.early)) as typeof import('./start/early.ts')
  begin(process.env)
}
await import(bundle?.main ?? './main.ts')
