/** A program with a browser that never ends by itself: `chromium.test.ts` ends it. */
import { launch, pidOf } from '../chromium.ts'

const started = await launch()
await started.newPage()
console.log(await pidOf(started))
setInterval(() => {}, 1_000)
