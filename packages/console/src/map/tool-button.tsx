import type { ReactElement } from 'react'
import { Icon, type IconName } from '../ui/icons.tsx'
import slotStyles from './map-slot.module.css'

interface ToolButtonParts {
  icon: IconName
  text: string
  isActive: boolean
  onClick(): void
}

/** A tool of a toolbar on the map, of which one at a time is in use. */
export const ToolButton = ({ icon, text, isActive, onClick }: ToolButtonParts): ReactElement => (
  <button
    type="button"
    className={isActive ? slotStyles.selected : ''}
    aria-pressed={isActive}
    aria-label={text}
    title={text}
    onClick={onClick}
  >
    <Icon name={icon} />
  </button>
)
