/** Where a screen shows the map: the shared map moves in when the screen opens. */
import { useLayoutEffect, useRef, useState, type ReactElement, type ReactNode } from 'react'
import { Icon } from '../ui/icons.tsx'
import { BackdropMenu } from './backdrop-menu.tsx'
import { sharedMap } from './shared-map.ts'
import { classes } from '../ui/classes.ts'
import styles from './map-slot.module.css'

interface MapSlotParts {
  className?: string | undefined
  /** Of the zoom buttons. */
  zoomClassName?: string | undefined
  /** Floats over the map. */
  children?: ReactNode
}

export function MapSlot({ className, zoomClassName, children }: MapSlotParts): ReactElement {
  const slot = useRef<HTMLDivElement>(null)
  const [shared] = useState(sharedMap)
  useLayoutEffect(() => {
    slot.current!.prepend(shared.element)
    shared.map.resize()
    return () => shared.clear() // The next screen says what is on the map.
  }, [shared])
  return (
    <div className={classes(styles.slot, className)} ref={slot}>
      <div className={classes(styles.floating, styles.toolbar, styles.zoom, zoomClassName)}>
        <button type="button" aria-label="Zoom in" title="Zoom in" onClick={() => shared.map.zoomIn()}>
          <Icon name="zoomin" />
        </button>
        <button type="button" aria-label="Zoom out" title="Zoom out" onClick={() => shared.map.zoomOut()}>
          <Icon name="zoomout" />
        </button>
        <hr />
        <BackdropMenu />
      </div>
      {children}
    </div>
  )
}
