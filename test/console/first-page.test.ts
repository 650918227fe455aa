import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { stylesFor } from '../../packages/console/first/styles.ts'
import { earlyInputOf } from '../../packages/console/src/shell/first.ts'

// Goal: what a user does before the console runs is taken over, and nothing else.
test('input of the first page is taken over', () => {
  const page = { email: 'ana@example.com', password: 'correct horse', focused: 'current-password', pressed: 'sign-in', isValid: true }
  assert.deepEqual(earlyInputOf(page), {
    email: 'ana@example.com',
    password: 'correct horse',
    focused: 'current-password',
    pressed: 'sign-in',
  })
  assert.equal(earlyInputOf({ ...page, isValid: false }).pressed, null, 'an incomplete form is not sent')
  assert.equal(earlyInputOf({ ...page, isValid: false, pressed: 'demo' }).pressed, 'demo', 'the demo needs no form')
})

test('only the fields and buttons of the page count', () => {
  fc.assert(
    fc.property(fc.option(fc.string(), { nil: undefined }), fc.option(fc.string(), { nil: undefined }), (focused, pressed) => {
      const input = earlyInputOf({ email: '', password: '', focused, pressed, isValid: true })
      assert.ok([null, 'username', 'current-password'].includes(input.focused))
      assert.ok([null, 'sign-in', 'demo', 'show'].includes(input.pressed))
    }),
  )
})

const PAGE = '<div id="first" class="shell"><nav class="shell-rail"><a>Explore</a></nav></div>'

// Goal: the page carries the rules that can apply to it, in their layers, and no others.
test('styles of the first page', () => {
  const cases: [css: string, kept: string][] = [
    ['.shell{color:red}', '.shell{color:red}'],
    ['.card{color:red}', ''],
    ['.card,.shell{color:red}', '.shell{color:red}'],
    ['.shell .card{color:red}', ''],
    ['nav a:hover{color:red}', 'nav a:hover{color:red}'],
    ['button{color:red}', ''],
    ['#first{top:0}', '#first{top:0}'],
    [':root{--ink:#111}', ':root{--ink:#111}'],
    ['#first:has(> .card){top:0}', '#first:has(> .card){top:0}'],
    ['.shell[data-open="1"]{top:0}', '.shell[data-open="1"]{top:0}'],
    ['.shell{}', ''],
    ['@keyframes fade{from{opacity:0}}', ''],
    ['@media (max-width: 760px){.shell{top:0}.card{top:1px}}', '@media (max-width: 760px){.shell{top:0}}'],
    ['@layer ui{.card{top:0}}', ''],
    ['@layer a,b;@layer shell{.shell-rail{top:0}}', '@layer shell{.shell-rail{top:0}}'],
    ['.maplibregl-map a{top:0}', ''],
  ]
  for (const [css, kept] of cases) assert.equal(stylesFor(PAGE, css), kept, css)
})

test('choosing rules twice changes nothing', () => {
  const rule = fc.constantFrom('.shell{top:0}', '.card{top:0}', '@media print{nav{top:0}.card{top:0}}', '.card,a{top:0}')
  fc.assert(
    fc.property(fc.array(rule), (rules) => {
      const kept = stylesFor(PAGE, rules.join(''))
      assert.equal(stylesFor(PAGE, kept), kept)
    }),
  )
})
