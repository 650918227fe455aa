import { useState, type ReactElement } from 'react'
import { Button, Card } from '../../ui/kit.tsx'
import { AddCard, AutoTopup, CardList } from '../../parts/billing/cards.tsx'
import { BillingPage } from './page.tsx'

export function Cards(): ReactElement {
  const [adding, setAdding] = useState(false)
  return (
    <BillingPage
      name="Cards"
      actions={
        <Button look="primary" icon="plus" onClick={() => setAdding(true)}>
          Add a card
        </Button>
      }
    >
      <div className="grid two-one">
        <Card title="Cards">
          <CardList />
        </Card>
        <AutoTopup />
      </div>
      {adding && <AddCard onClose={() => setAdding(false)} />}
    </BillingPage>
  )
}
