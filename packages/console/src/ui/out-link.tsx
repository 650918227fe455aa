import type { ReactElement, ReactNode } from 'react'

/** A link to another website, in a new tab. */
export const OutLink = ({ to, children }: { to: string; children: ReactNode }): ReactElement => (
  <a href={to} rel="noreferrer" target="_blank">
    {children}
  </a>
)
