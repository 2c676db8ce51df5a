/** Components that are drawn again only when what they are given changed. */

import { Component, type ComponentChildren, type FunctionComponent, h } from "preact";

/** Wraps a component: as long as its properties are the same objects, it stays as it is. */
export function memo<P extends object>(inner: FunctionComponent<P>) {
  return class extends Component<P> {
    override shouldComponentUpdate(next: P): boolean {
      const known = this.props as Record<string, unknown>;
      return Object.entries(next).some(([key, value]) => known[key] !== value);
    }

    override render(): ComponentChildren {
      return h(inner, this.props as P);
    }
  };
}
