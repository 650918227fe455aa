import type { AreaShape } from '../../map/geo.ts'
import { useEffect } from 'react'
import { toggleInCart } from '../../state/cart.ts'
import type { Scene } from '../../state/scene.ts'
import { isTyping } from '../../ui/keys.ts'
import { isRefused, type ScenePrices } from './prices.ts'

interface SceneKeys {
  scenes: readonly Scene[]
  selected: Scene | null
  prices: ScenePrices
  area: AreaShape | null
  pick(scene: Scene): void
}

/** J and K go to the next and the previous scene; A adds the scene to the cart or removes it. */
export function useSceneKeys({ scenes, selected, prices, area, pick }: SceneKeys): void {
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (isTyping(event) || event.ctrlKey || event.metaKey || event.altKey) return
      const index = scenes.findIndex(({ key }) => key === selected?.key)
      if (event.key === 'j' && scenes[index + 1]) pick(scenes[index + 1]!)
      if (event.key === 'k' && scenes[index - 1]) pick(scenes[index - 1]!)
      if (event.key === 'a' && selected?.isForSale && !isRefused(prices.get(selected.key))) toggleInCart(selected, area)
    }
    addEventListener('keydown', onKey)
    return () => removeEventListener('keydown', onKey)
  }, [scenes, selected, prices, area, pick])
}
