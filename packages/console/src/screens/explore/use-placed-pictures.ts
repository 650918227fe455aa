import { useEffect, useMemo, useState } from 'react'
import { placePicture } from '../../map/place-picture.ts'
import type { Picture } from '../../map/shared-map.ts'
import type { Scene } from '../../state/scene.ts'
import { pictureOf } from '../../ui/auth-image.tsx'

const pathOf = ({ kind, tiles, quicklook, thumbnail }: Scene): string | null =>
  tiles === null && kind === 'catalog' ? (quicklook ?? thumbnail) : null

/** Previews of scenes without tiles, where they belong; each is read once while it is shown. */
export function usePlacedPictures(scenes: readonly Scene[]): readonly Picture[] {
  const [placed, setPlaced] = useState<ReadonlyMap<string, Picture & { isOwn: boolean }>>(new Map())
  const keys = scenes.map(({ key }) => key).join(' ')
  useEffect(() => {
    const wanted = scenes.filter((scene) => pathOf(scene) !== null)
    const stopped = new AbortController()
    setPlaced((before) => {
      for (const [key, { url, isOwn }] of before) if (isOwn && !wanted.some((scene) => scene.key === key)) URL.revokeObjectURL(url)
      return new Map([...before].filter(([key]) => wanted.some((scene) => scene.key === key)))
    })
    for (const scene of wanted) {
      if (placed.has(scene.key)) continue
      pictureOf(pathOf(scene)!, stopped.signal)
        .then((address) => placePicture(address, scene.geometry))
        .then((picture) => {
          if (picture && !stopped.signal.aborted) setPlaced((before) => new Map(before).set(scene.key, { id: scene.key, ...picture }))
        })
        .catch(() => undefined) // The list says which scenes have no preview.
    }
    return () => stopped.abort()
    // oxlint-disable-next-line exhaustive-deps
  }, [keys])
  // oxlint-disable-next-line exhaustive-deps
  return useMemo(() => scenes.flatMap(({ key }) => placed.get(key) ?? []), [keys, placed])
}
