import { useEffect, useState, type ReactElement } from 'react'
import { sharedMap } from './shared-map.ts'
import styles from './centre-mark.module.css'

/** Marks the centre of the map while it has the focus by keys: Enter adds a point there. */
export function CentreMark(): ReactElement | null {
  const [isShown, setShown] = useState(false)
  useEffect(() => {
    const canvas = sharedMap().map.getCanvas()
    const look = () => setShown(canvas.matches(':focus-visible'))
    const events = ['focus', 'blur', 'keydown', 'pointerdown'] as const
    for (const name of events) canvas.addEventListener(name, look)
    look() // It may have the focus already.
    return () => {
      for (const name of events) canvas.removeEventListener(name, look)
    }
  }, [])
  return isShown ? <i className={styles.centre} /> : null
}
