/** The order that is being put together. */
import type { ReactElement } from 'react'
import { useTitle } from '../shell/crumbs.tsx'
import { AuthImage } from '../ui/auth-image.tsx'
import { count, dateTime, percent } from '../ui/format.ts'
import { Button, Card, LinkButton, Page } from '../ui/kit.tsx'
import { Empty } from '../ui/states.tsx'
import { emptyCart, toggleInCart, useCart } from './explore/cart.ts'

export function Orders(): ReactElement {
  const cart = useCart()
  useTitle('Orders')
  return (
    <Page title="Orders" about="Scenes that you have chosen. Nothing is reserved yet.">
      {cart.length === 0 ? (
        <Empty
          icon="cart"
          title="Nothing chosen"
          actions={
            <LinkButton to="/explore" look="primary">
              Search scenes
            </LinkButton>
          }
        />
      ) : (
        <Card
          title={`${cart.length} chosen`}
          aside={
            <Button size="s" onClick={emptyCart}>
              Take all out
            </Button>
          }
          flush
        >
          {cart.map((scene) => (
            <div key={scene.key} className="cl2">
              <span className="th2">
                <AuthImage path={scene.thumbnail} alt="" />
              </span>
              <span className="grow">
                <b>{scene.source}</b>
                <br />
                <span className="soft sm">
                  {dateTime(scene.datetime)}, {percent(scene.cloud)} cloud
                </span>
              </span>
              <span className="num">{count(scene.creditsPerKm2 ?? 0)} cr/km²</span>
              <Button look="quiet" icon="x" label={`Take out ${scene.id}`} onClick={() => toggleInCart(scene)} />
            </div>
          ))}
        </Card>
      )}
    </Page>
  )
}
