import type { ReactElement, ReactNode } from 'react'
import styles from './facts.module.css'

export function Facts({ rows }: { rows: readonly (readonly [ReactNode, ReactNode])[] }): ReactElement {
  return (
    <dl className={styles.facts}>
      {rows.map(([name, what], index) => (
        <FactRow key={index} name={name} what={what} />
      ))}
    </dl>
  )
}
const FactRow = ({ name, what }: { name: ReactNode; what: ReactNode }) => (
  <>
    <dt>{name}</dt>
    <dd>{what}</dd>
  </>
)
