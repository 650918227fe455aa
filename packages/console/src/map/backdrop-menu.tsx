/** The button on every map that changes what lies behind the imagery. */
import { lazy, Suspense, useEffect, useState, type ReactElement } from 'react'
import { classes } from '../ui/classes.ts'
import { Icon } from '../ui/icons.tsx'
import { Menu, MenuDivider, MenuItem, MenuLabel } from '../ui/menu.tsx'
import { whenIdle } from '../ui/when-idle.ts'
import { backdropName, chooseBackdrop, readBackdrop, useBackdrop, useBaseMaps, useUnavailable } from './backdrop.ts'
import styles from './backdrop-menu.module.css'
import slotStyles from './map-slot.module.css'
import ui from '../ui/ui.module.css'

const ImageryDialog = lazy(() => import('./imagery-dialog.tsx'))

export function BackdropMenu(): ReactElement {
  const chosen = useBackdrop()
  const maps = useBaseMaps()
  const unavailable = useUnavailable()
  const [isChoosing, setChoosing] = useState(false)
  useEffect(() => whenIdle(() => void readBackdrop()), [])
  const isImagery = chosen !== null && chosen.kind !== 'map'
  const name = unavailable === null ? backdropName(chosen, maps) : 'Built-in map'
  const item = (text: string, isChosen: boolean, choose: () => void) => (
    <MenuItem key={text} icon={isChosen ? 'check' : 'globe'} onClick={choose}>
      {text}
      {isChosen && <span className={ui.screenReaderOnly}>, shown</span>}
    </MenuItem>
  )
  return (
    <>
      <Menu
        label="Base map"
        align="end"
        button={(trigger) => (
          <button type="button" {...trigger} aria-label={`Base map: ${name}`} title={`Base map: ${name}`}>
            <Icon name="layers" />
          </button>
        )}
      >
        <MenuLabel>Base map</MenuLabel>
        {item('Built-in map', chosen === null, () => void chooseBackdrop(null))}
        {maps.map((map) =>
          item(
            map.name,
            chosen?.kind === 'map' && chosen.id === map.id,
            () => void chooseBackdrop({ kind: 'map', id: map.id, name: null }),
          ),
        )}
        <MenuDivider />
        <MenuLabel>Your imagery</MenuLabel>
        {isImagery && item(backdropName(chosen, maps), true, () => undefined)}
        <MenuItem icon="image" onClick={() => setChoosing(true)}>
          Choose imagery
        </MenuItem>
      </Menu>
      {unavailable !== null && (
        <p className={classes(slotStyles.floating, styles.notice, ui.small)} role="status">
          {unavailable} is unavailable. Showing the built-in map.
        </p>
      )}
      {isChoosing && (
        <Suspense fallback={null}>
          <ImageryDialog onClose={() => setChoosing(false)} />
        </Suspense>
      )}
    </>
  )
}
