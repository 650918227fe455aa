import { useState, type ReactElement } from 'react'
import { Button, Card } from '../../ui/kit.ts'
import { AddCard, AutoTopup, CardList } from '../../parts/billing/cards.tsx'
import { BillingPage } from './page.tsx'
import { classes } from '../../ui/classes.ts'
import ui from '../../ui/ui.module.css'

export function Cards(): ReactElement {
  const [adding, setAdding] = useState(false)
  return (
    <BillingPage
      name="Cards"
      actions={
        <Button variant="primary" icon="plus" onClick={() => setAdding(true)}>
          Add a card
        </Button>
      }
    >
      <div className={classes(ui.grid, ui.twoToOne)}>
        <Card title="Cards">
          <CardList />
        </Card>
        <AutoTopup />
      </div>
      {adding && <AddCard onClose={() => setAdding(false)} />}
    </BillingPage>
  )
}
