/** A list to choose from: each entry has a name, and says what it is. */
import type { ReactElement, ReactNode } from 'react'
import styles from './offers.module.css'
import ui from './ui.module.css'

export const Offers = ({ label, children }: { label: string; children: ReactNode }): ReactElement => (
  <ul className={styles.offers} aria-label={label}>
    {children}
  </ul>
)

interface OfferParts {
  name: string
  about: string
  /** Whether it is the one in use; absent where each can be chosen again. */
  isChosen?: boolean
  onPick(): void
}

export const Offer = ({ name, about, isChosen, onPick }: OfferParts): ReactElement => (
  <li>
    <button type="button" aria-pressed={isChosen} onClick={onPick}>
      <span className={ui.ellipsis}>{name}</span>
      <span className={ui.soft}>{about}</span>
    </button>
  </li>
)
