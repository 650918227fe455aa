/** What journeys of buying and making do alike. */
import type { Page } from 'playwright-core'
import { until, work } from '../orders/support.ts'
import type { World } from '../support/world.ts'

const TRIES = 4
const ENDED = until('fulfilled')

/** Works an order to its end; on a busy machine the files of a vendor take longer than one round of waiting. */
export async function delivered(w: World, orderId: string): Promise<void> {
  for (let tried = 1; ; tried++) {
    try {
      return await work(w, [orderId], ENDED)
    } catch (error) {
      if (tried === TRIES) throw error
    }
  }
}

/** An area by its four edges, as somebody without a mouse gives it. */
export async function typeArea(page: Page, edges: { West: number; South: number; East: number; North: number }): Promise<void> {
  await page.getByRole('button', { name: 'Enter, paste or upload an area (I)' }).click()
  const dialog = page.getByRole('dialog')
  for (const [edge, degrees] of Object.entries(edges)) await dialog.getByLabel(edge).fill(String(degrees))
  await dialog.getByRole('button', { name: 'Use this area' }).click()
  await dialog.waitFor({ state: 'detached' })
}

/** Small, and few days: a vendor paints each picture and each delivery, at the speed of the machine. */
const AREA = { West: 2.3, South: 48.2, East: 2.306, North: 48.204 }
const DAYS = 'from=2029-12-28&to=2029-12-31'

interface Choosing {
  /** One more source to ask. */
  also?: string
  /** Once the area is given. */
  meanwhile?: () => Promise<void>
}

/** Types an area, waits for scenes of a vendor that sells, and ticks so many of them. */
export async function choose(w: World, page: Page, count: number, { also, meanwhile }: Choosing = {}): Promise<void> {
  const sources = ['sandbox-hr', 'sandbox-vhr', ...(also ? [also] : [])]
  await page.goto(`${w.baseUrl}/app/explore?sources=${sources.join('.')}&${DAYS}`)
  await typeArea(page, AREA)
  await meanwhile?.()
  const ticks = page.getByRole('checkbox', { name: /^Order Sandbox high resolution of/ })
  await ticks.first().waitFor()
  for (let index = 0; index < count; index++) await ticks.nth(index).check()
}
