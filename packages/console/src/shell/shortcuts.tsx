import type { ReactElement } from 'react'
import { Dialog } from '../ui/dialog.tsx'

const SHORTCUTS: readonly (readonly [string, string])[] = [
  ['Ctrl K or /', 'Search and commands'],
  ['Shift A', 'Show the API call'],
  ['G, then E L O T U J M B', 'Go to Explore, Library, Orders, Tasking, Uploads, Jobs, Monitor, Billing'],
  ['J, K', 'Next and previous in a list of scenes, alerts or messages'],
  ['E, Shift E', 'Acknowledge an alert, be done with a message, with all'],
  ['A', 'Add the scene to the order, or take it out'],
  ['+, −, arrows', 'Zoom and move the map while it has the focus'],
  ['Enter, Esc', 'Close a ring, give up drawing'],
  ['Ctrl Enter', 'Place the order, run the process, accept the option'],
  ['?', 'This list'],
]

export default function ShortcutList({ onClose }: { onClose(): void }): ReactElement {
  return (
    <Dialog title="Keyboard shortcuts" onClose={onClose}>
      <dl className="dl keys">
        {SHORTCUTS.map(([keys, what]) => (
          <div key={keys} className="row between">
            <dt>
              <span className="kbd">{keys}</span>
            </dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  )
}
