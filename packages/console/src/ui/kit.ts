/** The few pieces that every screen is made of. */
export { Badge, State, type Tone } from './badge.tsx'
export { Button, LinkButton } from './button.tsx'
export { Card } from './card.tsx'
export { CopyButton, copyText } from './copy.tsx'
export { Facts } from './facts.tsx'
export { Check, Choice, Field } from './field.tsx'
export { Note } from './note.tsx'
export { Page } from './page.tsx'
export { Bar } from './progress-bar.tsx'
export { Secret } from './secret.tsx'
export { Segmented } from './segmented.tsx'
export { SubNav, type PlainPath } from './sub-nav.tsx'
export { Toggle } from './toggle.tsx'

declare module 'react' {
  interface CSSProperties {
    /** Custom properties hand values from a component to its style sheet. */
    [property: `--${string}`]: string | number | undefined
  }
}
