/** `npm run build`: the console, ready before the first start. */
import { createConsoleBuild } from '#start/console-build.ts'

const build = createConsoleBuild()
const startedAt = performance.now()
await build.run(new AbortController().signal)
console.log(`The console is built (${Math.round(performance.now() - startedAt)} ms).`)
