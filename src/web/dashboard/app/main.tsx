import { render } from "preact";
import { signal } from "@preact/signals";
const n = signal(0);
function App() {
  return <button type="button" onClick={() => n.value++}>{n}</button>;
}
render(<App />, document.body);
