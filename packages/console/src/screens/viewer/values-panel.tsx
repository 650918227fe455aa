/** Values as a chart, as a table and as CSV: below the map, or on a phone inside the sheet. */
import { useState, type ReactElement, type ReactNode } from 'react'
import { classes } from '../../ui/classes.ts'
import { value } from '../../ui/format.ts'
import { Button, Segmented } from '../../ui/kit.ts'
import styles from './values-panel.module.css'
import tableStyles from '../../ui/table.module.css'
import ui from '../../ui/ui.module.css'

export type ValuesView = 'chart' | 'table'

interface ValuesPanelParts {
  label: string
  /** What is shown, in the colours of the chart. */
  names: ReactNode
  hasValues: boolean
  onSave(): void
  /** After the choice of the view. */
  actions?: ReactNode
  children(view: ValuesView): ReactNode
}

export function ValuesPanel({ label, names, hasValues, onSave, actions, children }: ValuesPanelParts): ReactElement {
  const [view, setView] = useState<ValuesView>('chart')
  return (
    <section className={styles.valuesPanel} aria-label={label}>
      <div className={classes(ui.flexRow, ui.gap12, styles.header)}>
        {names}
        <span className={ui.grow} />
        <Segmented
          label="View"
          value={view}
          onChange={setView}
          options={[
            { value: 'chart', text: 'Chart' },
            { value: 'table', text: 'Table' },
          ]}
        />
        <Button size="s" icon="down" disabled={!hasValues} onClick={onSave}>
          CSV
        </Button>
        {actions}
      </div>
      <div className={styles.content}>{children(view)}</div>
    </section>
  )
}

interface ValuesTableParts {
  /** What the rows are. */
  first: string
  names: readonly string[]
  rows: readonly { key: string | number; name: ReactNode; values: readonly (number | null)[] }[]
  /** Stands where there is no value. */
  missing: string
}

export function ValuesTable({ first, names, rows, missing }: ValuesTableParts): ReactElement {
  return (
    <div className={styles.table} tabIndex={0} role="group" aria-label="Values">
      <table className={classes(tableStyles.table, tableStyles.slim)}>
        <thead>
          <tr>
            <th scope="col">{first}</th>
            {names.map((name) => (
              <th key={name} scope="col" className={tableStyles.number}>
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(({ key, name, values }) => (
            <tr key={key}>
              <th scope="row">{name}</th>
              {values.map((each, index) => (
                <td key={index} className={classes(tableStyles.number, ui.numeric)}>
                  {each === null ? missing : value(each)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
