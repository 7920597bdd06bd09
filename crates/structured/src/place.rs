//! Where an element is in a page, as an XPath that finds it and nothing else.

use std::fmt::Write as _;

use extract::html::dom::Node;
use foldhash::{HashMap, HashMapExt as _};

/// The places of elements, counted once for each parent.
#[derive(Default)]
pub(crate) struct Places {
    /// How many siblings of the same name come before, and whether there are any behind.
    among: HashMap<u32, (u32, bool)>,
}

impl Places {
    /// The path of an element: `/html/body/div[2]`.
    pub(crate) fn of(&mut self, node: Node<'_>) -> String {
        let mut steps: Vec<Node<'_>> = vec![node];
        steps.extend(node.ancestors().filter(|above| above.is_element()));
        let mut path = String::new();
        for step in steps.into_iter().rev() {
            let (before, is_one_of_several) = self.among(step);
            path.push('/');
            path.push_str(&step.name().to_ascii_lowercase());
            if is_one_of_several {
                // Writing into a text does not fail.
                let _ = write!(path, "[{}]", before + 1);
            }
        }
        path
    }

    fn among(&mut self, node: Node<'_>) -> (u32, bool) {
        if let Some(known) = self.among.get(&node.id()) {
            return *known;
        }
        let mut counts: HashMap<String, u32> = HashMap::new();
        let siblings: Vec<Node<'_>> =
            node.parent().into_iter().flat_map(Node::children).filter(|node| node.is_element()).collect();
        for sibling in &siblings {
            let count = counts.entry(sibling.name().to_ascii_lowercase()).or_default();
            self.among.insert(sibling.id(), (*count, false));
            *count += 1;
        }
        for sibling in &siblings {
            let is_one_of_several = counts.get(&sibling.name().to_ascii_lowercase()).is_some_and(|count| *count > 1);
            if let Some(known) = self.among.get_mut(&sibling.id()) {
                known.1 = is_one_of_several;
            }
        }
        self.among.get(&node.id()).copied().unwrap_or_default()
    }
}
