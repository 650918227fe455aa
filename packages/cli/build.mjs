// Builds the command line as plain JavaScript in dist/: its code, the client's and that of its one library, so nothing needs installing.
// Run by `npm pack`. Each command stays a separate file, so that a start loads no more than it needs.
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { rolldown } from 'rolldown'

const here = path.dirname(fileURLToPath(import.meta.url))
const dist = path.join(here, 'dist')
rmSync(dist, { recursive: true, force: true })
const bundle = await rolldown({ input: path.join(here, 'src/main.ts'), platform: 'node', transform: { target: 'node20' } })
const { output } = await bundle.write({ dir: dist, format: 'esm', entryFileNames: 'main.js', chunkFileNames: '[name].js' })
await bundle.close()

/** Bundled libraries and the folders of their modules. */
const libraries = new Map()
for (const file of output.flatMap((chunk) => ('moduleIds' in chunk ? chunk.moduleIds : []))) {
  const [, folder, name] = /^(.*node_modules\/((?:@[^/]+\/)?[^/]+))\//.exec(file) ?? []
  if (folder) libraries.set(name, folder)
}
const notices = [...libraries].sort().map(([name, folder]) => {
  const { version, license } = JSON.parse(readFileSync(path.join(folder, 'package.json'), 'utf8'))
  return `${name} ${version} (${license})\n\n${licenseIn(folder)}`
})
writeFileSync(path.join(dist, 'LICENSES.txt'), `dist/ contains code from these libraries.\n\n${notices.join('\n\n')}\n`)

function licenseIn(folder) {
  for (const name of ['LICENSE', 'LICENSE.md', 'license'])
    try {
      return readFileSync(path.join(folder, name), 'utf8')
    } catch {
      // Try the next name.
    }
  throw new Error(`${folder} has no licence file`)
}
