/** The start page's map: the demo's scene, opened like any shared one. */
import { loadTiles, openShare } from './share-api.ts'
import { createMap } from './share-map.ts'

const container = document.getElementById('demo-map')!
const { token = '', password = '' } = container.dataset

try {
  const opened = await openShare({ token, password })
  if (opened.target_type === 'item' && opened.target.tilejson) {
    const item = opened.target
    const map = createMap(container, { onRefused: () => {}, onDrawing: (busy) => container.setAttribute('aria-busy', String(busy)) })
    map.fit(item, false)
    map.draw(await loadTiles(opened.target.tilejson, null))
    document.getElementById('demo-name')!.textContent = `${item.name}.`
  }
} catch {
  container.hidden = true // The link below says the rest.
}
