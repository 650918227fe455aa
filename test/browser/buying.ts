/** What journeys of buying and making do alike. */
import type { Page } from 'playwright-core'

/** An area by its four edges, as somebody without a mouse gives it. */
export async function typeArea(page: Page, edges: { West: number; South: number; East: number; North: number }): Promise<void> {
  await page.getByRole('button', { name: 'Type, paste or open an area (I)' }).click()
  const dialog = page.getByRole('dialog')
  for (const [edge, degrees] of Object.entries(edges)) await dialog.getByLabel(edge).fill(String(degrees))
  await dialog.getByRole('button', { name: 'Use this area' }).click()
  await dialog.waitFor({ state: 'detached' })
}
