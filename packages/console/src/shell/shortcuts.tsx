import type { ReactElement } from 'react'
import { Dialog } from '../ui/dialog.tsx'
import { classes } from '../ui/classes.ts'
import shellStyles from './shell.module.css'
import styles from './shortcuts.module.css'
import factsStyles from '../ui/facts.module.css'
import ui from '../ui/ui.module.css'

const SHORTCUTS: readonly (readonly [string, string])[] = [
  ['Ctrl K or /', 'Search and commands'],
  ['Shift A', 'Show API calls'],
  ['G, then E L O T U J M B', 'Go to Explore, Library, Orders, Tasking, Uploads, Jobs, Monitor, Billing'],
  ['J, K', 'Next and previous scene, alert or notification'],
  ['E, Shift E', 'Acknowledge an alert; mark a notification or all notifications as read'],
  ['A', 'Add the scene to the cart, or remove it'],
  ['+, −, arrows', 'Zoom and pan the focused map'],
  ['X, Z, M, A, P, S, T', 'On the map of an item: inspect, zone, measure distance, measure area, profile, swipe, timelapse'],
  ['Space', 'Play or pause the timelapse on the focused map'],
  ['C', 'Copy the coordinates of the pointer'],
  ['Enter, Backspace', 'Add a point at the centre of the focused map, or remove the last'],
  ['Enter, Esc', 'Finish or cancel drawing; Esc also ends a tool'],
  ['Ctrl Enter', 'Place the order, run the process or accept the option'],
  ['?', 'Keyboard shortcuts'],
]

export default function ShortcutList({ onClose }: { onClose(): void }): ReactElement {
  return (
    <Dialog title="Keyboard shortcuts" onClose={onClose}>
      <dl className={classes(factsStyles.facts, styles.shortcuts)}>
        {SHORTCUTS.map(([keys, what]) => (
          <div key={keys} className={classes(ui.flexRow, ui.between)}>
            <dt>
              <span className={shellStyles.keyHint}>{keys}</span>
            </dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  )
}
