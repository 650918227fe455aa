import type { ReactElement } from 'react'
import type { Terms } from '../state/terms.ts'
import { OutLink } from '../ui/out-link.tsx'

/** The name of a licence, with a link to its text if there is one. */
export const Licence = ({ terms: { licence, url } }: { terms: Terms }): ReactElement =>
  url === null ? <>{licence}</> : <OutLink to={url}>{licence}</OutLink>
